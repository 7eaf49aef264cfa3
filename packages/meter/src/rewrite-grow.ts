import type { ByteSink } from "./byte-sink.ts";
import { HOST_MEMORY_MARK } from "./trap-cause.ts";
import { PAGE_COST_LOG2 } from "./cost-table.ts";
import { COST } from "./opcode-table.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { I32 } from "./value-type.ts";

const I32_CONST = 0x41;
const I64_CONST = 0x42;
const I32_EQ = 0x46;
const I64_LE_U = 0x58;
const I32_AND = 0x71;
const I64_ADD = 0x7c;
const I64_SHL = 0x86;
const I64_EXTEND_U = 0xad;
const SELECT = 0x1b;

/**
 * Rewrites `memory.grow`: charged by pages if it can succeed. A failure within the cap depends on the machine and must
 * not be observable by a module, so it ends the call.
 */
export function rewriteMemoryGrow(state: RewriteState, at: number): void {
  const { writer, source, operands, module } = state;
  state.memoryIndex(at);
  state.charge(at, COST[0x40] ?? 1);
  state.copyUpTo(at);
  const pages = writer.temporary(I32, 0);
  const fits = writer.temporary(I32, 1);
  chargeGrowth(state, {
    table: undefined,
    maximum: module.memory?.maximum ?? 0,
    pages,
    fits,
    log2: PAGE_COST_LOG2,
  });
  state.copyUpTo(source.at);
  writer.localTee(pages);
  writer.sink.byte(I32_CONST);
  writer.sink.signed(-1);
  writer.sink.byte(I32_EQ);
  writer.localGet(fits);
  writer.sink.byte(I32_AND);
  writer.trapIf(HOST_MEMORY_MARK);
  writer.localGet(pages);
  operands.size--;
  operands.push(I32);
}

/** Rewrites `table.grow`: charged by entries if it can succeed. */
export function rewriteTableGrow(state: RewriteState, at: number): void {
  const { writer, source, operands, module } = state;
  const table = source.u32();
  state.copyUpTo(at);
  chargeGrowth(state, {
    table,
    maximum: module.tables[table]?.maximum ?? 0,
    pages: writer.temporary(I32, 0),
    fits: writer.temporary(I32, 1),
    log2: 0,
  });
  operands.size -= 2;
  operands.push(I32);
}

/** Writes the instruction that returns the size of a table, or of the memory. */
export function writeSize(sink: ByteSink, table: number | undefined): void {
  sink.byte(table === undefined ? 0x3f : 0xfc);
  sink.byte(table === undefined ? 0 : 0x10);
  if (table !== undefined) sink.u32(table);
}

interface Growth {
  /** The table to grow; undefined for the memory. */
  readonly table: number | undefined;
  readonly maximum: number;
  readonly pages: number;
  readonly fits: number;
  readonly log2: number;
}

/**
 * Charges fuel for the number on top, which stays there. `fits` is the local that receives whether the growth stays
 * within the maximum.
 */
function chargeGrowth({ writer }: RewriteState, { table, maximum, pages, fits, log2 }: Growth): void {
  const { sink } = writer;
  writer.localSet(pages);
  writer.pushFuel();
  writer.localGet(pages);
  sink.byte(I64_EXTEND_U);
  if (log2 > 0) {
    sink.byte(I64_CONST);
    sink.signed(log2);
    sink.byte(I64_SHL);
  }
  sink.byte(I64_CONST);
  sink.byte(0);
  writeSize(sink, table);
  sink.byte(I64_EXTEND_U);
  writer.localGet(pages);
  sink.byte(I64_EXTEND_U);
  sink.byte(I64_ADD);
  sink.byte(I64_CONST);
  sink.signed(maximum);
  sink.byte(I64_LE_U);
  writer.localTee(fits);
  sink.byte(SELECT);
  writer.subtractFuel();
  writer.localGet(pages);
}

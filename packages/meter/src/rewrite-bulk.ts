import type { ByteSink } from "./byte-sink.ts";
import { BULK_COSTS, BYTES_PER_UNIT_LOG2, PLAIN_COST } from "./cost-table.ts";
import { Rejection } from "./meter-reason.ts";
import { rewriteTableGrow, writeSize } from "./rewrite-grow.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { I32, I64 } from "./value-type.ts";

const I64_CONST = 0x42;
const I64_LE_U = 0x58;
const I64_SHL = 0x86;
const I64_SHR_U = 0x88;
const I64_EXTEND_U = 0xad;
const SELECT = 0x1b;
const BYTES_PER_PAGE_LOG2 = 16;

/**
 * Rewrites instructions after the prefix 0xfc: saturating conversions, and bulk operations on bytes or table entries.
 */
export function rewriteBulk(state: RewriteState, at: number): void {
  const { source, operands } = state;
  const number = source.u32();
  state.charge(at, BULK_COSTS.get(number) ?? PLAIN_COST);
  if (number < 8) {
    operands.size--;
    operands.push(number < 4 ? I32 : I64);
    return;
  }
  switch (number) {
    case 0x0f:
      return rewriteTableGrow(state, at);
    case 0x10: // table.size
      source.u32();
      return operands.push(I32);
    case 0x09: // data.drop
    case 0x0d: // elem.drop
      return source.skipNumber();
    case 0x08: // memory.init
    case 0x0a: // memory.copy
    case 0x0b: // memory.fill
      skipBulkImmediates(state, number, at);
      chargeLength(state, at, undefined);
      operands.size -= 3;
      return;
    case 0x0e: {
      // table.copy: to a table, from another
      const table = source.u32();
      source.skipNumber();
      chargeLength(state, at, table);
      operands.size -= 3;
      return;
    }
    case 0x0c: // table.init: from a segment
      source.skipNumber();
      chargeLength(state, at, source.u32());
      operands.size -= 3;
      return;
    case 0x11: // table.fill
      chargeLength(state, at, source.u32());
      operands.size -= 3;
      return;
    default:
      skipBulkImmediates(state, number, at);
  }
}

export function skipBulkImmediates(state: RewriteState, number: number, at: number): void {
  const { source } = state;
  switch (number) {
    case 0x08: // memory.init
      source.skipNumber();
      return state.memoryIndex(at);
    case 0x0a: // memory.copy
      state.memoryIndex(at);
      return state.memoryIndex(at);
    case 0x0b: // memory.fill
      return state.memoryIndex(at);
    case 0x0c: // table.init
    case 0x0e: // table.copy
      source.skipNumber();
      return source.skipNumber();
    case 0x09: // data.drop
    case 0x0d: // elem.drop
    case 0x0f: // table.grow
    case 0x10: // table.size
    case 0x11: // table.fill
      return source.skipNumber();
    default:
      if (number >= 8) throw new Rejection("unknown-opcode", at, `0xfc ${number}`);
  }
}

/**
 * Charges fuel for the length on top, which stays there: bytes of the memory, or entries of a table. A length beyond
 * the whole memory or table is out of bounds: the instruction traps without effect, and no fuel is charged for the
 * length.
 */
function chargeLength(state: RewriteState, at: number, table: number | undefined): void {
  const { writer } = state;
  const { sink } = writer;
  state.copyUpTo(at);
  const length = writer.temporary(I32);
  writer.localSet(length);
  writer.pushFuel();
  writer.localGet(length);
  sink.byte(I64_EXTEND_U);
  if (table === undefined) shift(sink, I64_SHR_U, BYTES_PER_UNIT_LOG2);
  sink.byte(I64_CONST);
  sink.byte(0);
  writer.localGet(length);
  sink.byte(I64_EXTEND_U);
  writeSize(sink, table);
  sink.byte(I64_EXTEND_U);
  if (table === undefined) shift(sink, I64_SHL, BYTES_PER_PAGE_LOG2);
  sink.byte(I64_LE_U);
  sink.byte(SELECT);
  writer.subtractFuel();
  writer.localGet(length);
}

function shift(sink: ByteSink, opcode: number, by: number): void {
  sink.byte(I64_CONST);
  sink.byte(by);
  sink.byte(opcode);
}

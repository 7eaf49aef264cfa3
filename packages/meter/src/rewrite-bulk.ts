import { BULK_COSTS, BYTES_PER_UNIT_LOG2, PLAIN_COST } from "./cost-table.ts";
import { Rejection } from "./meter-reason.ts";
import { rewriteTableGrow } from "./rewrite-grow.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { I32, I64 } from "./value-type.ts";

const I64_CONST = 0x42;
const I64_SHR_U = 0x88;
const I64_EXTEND_U = 0xad;

/** Instructions behind the prefix 0xfc: saturating conversions, and what works on many bytes or entries. */
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
    default:
      skipBulkImmediates(state, number, at);
      chargeLength(state, at, number < 0x0c ? BYTES_PER_UNIT_LOG2 : 0);
      operands.size -= 3;
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

/** Takes fuel for the length on top, which stays there, whether or not all of it is within bounds. */
function chargeLength(state: RewriteState, at: number, log2: number): void {
  const { writer } = state;
  const { sink } = writer;
  state.catchUp(at);
  const length = writer.temporary(I32);
  writer.localSet(length);
  writer.pushFuel();
  writer.localGet(length);
  sink.byte(I64_EXTEND_U);
  if (log2 > 0) {
    sink.byte(I64_CONST);
    sink.signed(log2);
    sink.byte(I64_SHR_U);
  }
  writer.subtractFuel();
  writer.localGet(length);
}

import { BLOCK, ELSE, END, IF, LOOP } from "./control-stack.ts";
import {
  COST,
  FLOATS,
  FLOATS_FIX,
  FLOATS_NONE,
  FLOATS_PASS,
  KIND,
  KIND_MEMORY,
  KIND_NUMERIC,
  KIND_UNKNOWN,
  POPS,
  PUSH,
} from "./opcode-table.ts";
import { rejectedOpcode } from "./rejected-opcode.ts";
import { rewriteBulk } from "./rewrite-bulk.ts";
import { rewriteCall, rewriteCallIndirect } from "./rewrite-call.ts";
import { beginBlock, beginBranching, branch, branchByTable, rewriteElse, rewriteEnd } from "./rewrite-control.ts";
import { rewriteMemoryGrow } from "./rewrite-grow.ts";
import { rewritePlainRun } from "./rewrite-plain-run.ts";
import { rewriteSimd } from "./rewrite-simd.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { skipImmediates } from "./skip-immediates.ts";
import { F32, F64, FUNCREF, I32, I64, isFloat, LOOSE } from "./value-type.ts";

/** Reads the next instruction of a function and writes it with its metering code. */
export function rewriteInstruction(state: RewriteState): void {
  const { source } = state;
  if (!state.isUnreachable) rewritePlainRun(state);
  const at = source.at;
  const opcode = source.byte();
  const kind = KIND[opcode] ?? KIND_UNKNOWN;
  if (kind === KIND_UNKNOWN) throw rejectedOpcode(opcode, at);
  if (state.isUnreachable) {
    passOver(state, opcode, at);
    return;
  }
  if (kind === KIND_NUMERIC || kind === KIND_MEMORY) rewriteNumeric(state, opcode, at);
  else rewriteOther(state, opcode, at);
}

function rewriteNumeric(state: RewriteState, opcode: number, at: number): void {
  const { operands } = state;
  state.charge(at, COST[opcode] ?? 1);
  if (KIND[opcode] === KIND_MEMORY) state.memoryArgument(at);
  const pops = POPS[opcode] ?? 0;
  let push = PUSH[opcode] ?? 0;
  const floats = FLOATS[opcode] ?? FLOATS_NONE;
  if (floats !== FLOATS_NONE) {
    if (floats !== FLOATS_PASS) state.canonicalizeTop(at, 1);
    if (floats !== FLOATS_FIX) push |= operands.peek(pops - 1) & LOOSE;
  }
  operands.size -= pops;
  if (push === 0) return;
  operands.push(push);
  if (isFloat(push & ~LOOSE)) state.usesFloats = true;
}

function passOver(state: RewriteState, opcode: number, at: number): void {
  if (opcode === END && state.unreachableBlocks === 0) return rewriteEnd(state, at);
  if (opcode === ELSE && state.unreachableBlocks === 0) return rewriteElse(state, at);
  if (opcode === END) state.unreachableBlocks--;
  if (opcode === BLOCK || opcode === LOOP || opcode === IF) state.unreachableBlocks++;
  skipImmediates(state, opcode, at);
}

function rewriteOther(state: RewriteState, opcode: number, at: number): void {
  const { source, operands } = state;
  switch (opcode) {
    case BLOCK:
      return beginBlock(state, opcode, at);
    case LOOP:
    case IF:
      return beginBranching(state, opcode, at);
    case ELSE:
      return rewriteElse(state, at);
    case END:
      return rewriteEnd(state, at);
    case 0x0e:
      return branchByTable(state, at);
    case 0x10:
      return rewriteCall(state, at);
    case 0x11:
      return rewriteCallIndirect(state, at);
    case 0x40:
      return rewriteMemoryGrow(state, at);
    case 0xfc:
      return rewriteBulk(state, at);
    case 0xfd:
      return rewriteSimd(state, at);
  }
  state.charge(at, COST[opcode] ?? 1);
  switch (opcode) {
    case 0x00: // unreachable
      return state.markUnreachable();
    case 0x01: // nop
      return;
    case 0x0c: // br
      branch(state, source.u32(), at, 0);
      return state.markUnreachable();
    case 0x0d: // br_if
      branch(state, source.u32(), at, 1);
      operands.size--;
      return;
    case 0x0f: // return
      state.canonicalizeTop(at, state.controls.branch(state.controls.size - 1));
      return state.markUnreachable();
    case 0x1a: // drop
      operands.size--;
      return;
    case 0x1c: // select with a type
      state.selectedType(at);
      return select(state, at);
    case 0x1b: // select
      return select(state, at);
    case 0x20: // local.get
      return operands.push(state.locals.typeOf(source.u32()));
    case 0x21: // local.set
    case 0x24: // global.set
      state.canonicalizeTop(at, 1);
      source.skipNumber();
      operands.size--;
      return;
    case 0x22: // local.tee
      state.canonicalizeTop(at, 1);
      return source.skipNumber();
    case 0x23: // global.get
      return operands.push(state.module.globalTypes[source.u32()] ?? 0);
    case 0x25: // table.get
      operands.size--;
      return operands.push(state.module.tables[source.u32()]?.type ?? 0);
    case 0x26: // table.set
      source.skipNumber();
      operands.size -= 2;
      return;
    case 0x3f: // memory.size
      state.memoryIndex(at);
      return operands.push(I32);
    case 0x41: // i32.const
      source.skipNumber();
      return operands.push(I32);
    case 0x42: // i64.const
      source.skipNumber();
      return operands.push(I64);
    case 0x43: // f32.const
      source.skip(4);
      state.usesFloats = true;
      return operands.push(F32);
    case 0x44: // f64.const
      source.skip(8);
      state.usesFloats = true;
      return operands.push(F64);
    case 0xd0: // ref.null
      return operands.push(state.referenceType(at));
    case 0xd1: // ref.is_null
      operands.size--;
      return operands.push(I32);
    case 0xd2: // ref.func
      source.skipNumber();
      return operands.push(FUNCREF);
    default:
      throw rejectedOpcode(opcode, at);
  }
}

function select(state: RewriteState, at: number): void {
  const { operands } = state;
  state.canonicalizeTop(at, 3);
  operands.size -= 2;
}

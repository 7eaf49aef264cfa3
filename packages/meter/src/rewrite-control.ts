import { ELSE, IF, LOOP } from "./control-stack.ts";
import { COST } from "./opcode-table.ts";
import { readBlockType } from "./read-block-type.ts";
import type { RewriteState } from "./rewrite-state.ts";

/** A block does not end the current run. */
export function beginBlock(state: RewriteState, opcode: number, at: number): void {
  const type = readBlockType(state);
  state.canonicalizeTop(at, type.params.length);
  state.controls.push(opcode, type, state.operands.size - type.params.length);
}

/** A loop and the arms of an `if` begin new runs. */
export function beginBranching(state: RewriteState, opcode: number, at: number): void {
  const { writer, operands, controls } = state;
  const type = readBlockType(state);
  const conditions = opcode === IF ? 1 : 0;
  if (opcode === IF) state.charge(at, COST[opcode] ?? 1);
  state.canonicalizeTop(at, type.params.length + conditions);
  operands.size -= conditions;
  state.beforeJoin(at);
  writer.endRun();
  controls.push(opcode, type, operands.size - type.params.length);
}

export function rewriteElse(state: RewriteState, at: number): void {
  const { writer, operands, controls } = state;
  leaveBlock(state, at);
  controls.opcode = ELSE;
  operands.cut(controls.base);
  operands.pushAll(controls.type.params);
  writer.afterJoin();
}

export function rewriteEnd(state: RewriteState, at: number): void {
  const { writer, operands, controls, isUnreachable } = state;
  if (controls.size === 1) {
    if (!isUnreachable) state.canonicalizeTop(at, controls.type.results.length);
    if (isUnreachable) state.omitUpTo(at);
    state.copyUpTo(state.source.at);
    controls.size = 0;
    return;
  }
  const { opcode, type, base } = controls;
  // A loop, or a block that no branch targets, is left only by reaching its end.
  if (!isUnreachable && (opcode === LOOP || (!controls.isTarget && opcode !== IF && opcode !== ELSE))) {
    state.canonicalizeTop(at, type.results.length);
    if (opcode === LOOP) state.writer.endRun();
  } else {
    leaveBlock(state, at);
    writer.afterJoin();
  }
  operands.cut(base);
  operands.pushAll(type.results);
  controls.size--;
}

/** Ends the run and restores the state that all other paths to the same place expect. */
function leaveBlock(state: RewriteState, at: number): void {
  if (state.isUnreachable) {
    state.omitUpTo(at);
    state.isUnreachable = false;
    return;
  }
  state.canonicalizeTop(at, state.controls.type.results.length);
  state.beforeJoin(at);
  state.writer.endRun();
}

/** A branch with `above` operands on top of those that it carries. */
export function branch(state: RewriteState, label: number, at: number, above: number): void {
  const { controls } = state;
  state.canonicalizeTop(at, controls.branch(label) + above);
  if (label !== controls.size - 1) state.beforeJoin(at);
}

export function branchByTable(state: RewriteState, at: number): void {
  const { source, controls, operands } = state;
  state.charge(at, COST[0x0e] ?? 1);
  let taken = 0;
  for (let count = source.u32(); count >= 0; count--) taken = controls.branch(source.u32());
  state.canonicalizeTop(at, taken + 1);
  state.beforeJoin(at);
  operands.size--;
  state.markUnreachable();
}

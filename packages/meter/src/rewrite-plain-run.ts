import { COST, FLOATS, FLOATS_NONE, KIND, KIND_MEMORY, KIND_NUMERIC, POPS, PUSH } from "./opcode-table.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { I32, I64, LOOSE } from "./value-type.ts";

/** How an opcode is passed here. 0 is left to `rewriteInstruction`. */
const PASS_NUMERIC = 1;
const PASS_MEMORY = 2;
const PASS_LOCAL_GET = 3;
const PASS_LOCAL_SET = 4;
const PASS_LOCAL_TEE = 5;
const PASS_CONST = 6;

/** Everything about an opcode in one number: how it is passed, what it takes, what it gives, what it costs. */
const INFO = new Int32Array(256);
const POPS_SHIFT = 4;
const PUSH_SHIFT = 8;
const COST_SHIFT = 16;

function describe(opcode: number, pass: number, push: number): void {
  const cost = COST[opcode] ?? 1;
  INFO[opcode] = pass | ((POPS[opcode] ?? 0) << POPS_SHIFT) | (push << PUSH_SHIFT) | (cost << COST_SHIFT);
}

for (let opcode = 0; opcode < 256; opcode++) {
  if (FLOATS[opcode] !== FLOATS_NONE) continue;
  if (KIND[opcode] === KIND_NUMERIC) describe(opcode, PASS_NUMERIC, PUSH[opcode] ?? 0);
  if (KIND[opcode] === KIND_MEMORY) describe(opcode, PASS_MEMORY, PUSH[opcode] ?? 0);
}
describe(0x20, PASS_LOCAL_GET, 0);
describe(0x21, PASS_LOCAL_SET, 0);
describe(0x22, PASS_LOCAL_TEE, 0);
describe(0x41, PASS_CONST, I32);
describe(0x42, PASS_CONST, I64);

/** Set in the codes of i32 and i64, and not in those of f32 and f64. */
const INTEGER_BIT = 2;

/** More than this is not charged at once here, so that costs stay within one charge. */
const MOST_COST = 0x8000;

/**
 * Passes over instructions that need nothing but their cost, inside a run: most of any module. What is in doubt is left
 * to `rewriteInstruction`, which knows all of them; this only spares the calls.
 */
export function rewritePlainRun(state: RewriteState): void {
  const { source, operands, locals } = state;
  const { bytes, end } = source;
  const { types } = operands;
  const localTypes = locals.types;
  let { at } = source;
  let { size, most, looseBelow } = operands;
  let cost = 0;
  let given = 0xff;
  while (at < end && size < types.length && cost < MOST_COST) {
    const info = INFO[bytes[at] ?? 0] ?? 0;
    const pass = info & 0xf;
    if (pass === PASS_LOCAL_GET) {
      const index = bytes[at + 1] ?? 0;
      if (index >= 0x80) break;
      types[size++] = localTypes[index] ?? 0;
      at += 2;
    } else if (pass === PASS_CONST) {
      types[size++] = info >> PUSH_SHIFT;
      at++;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else if (pass === PASS_NUMERIC) {
      const push = (info >> PUSH_SHIFT) & 0xff;
      size -= ((info >> POPS_SHIFT) & 0xf) - 1;
      types[size - 1] = push;
      given &= push;
      if (push >= LOOSE && size > looseBelow) looseBelow = size;
      at++;
    } else if (pass === PASS_MEMORY) {
      if ((bytes[at + 1] ?? 0) >= 0x40) break;
      const push = (info >> PUSH_SHIFT) & 0xff;
      size -= (info >> POPS_SHIFT) & 0xf;
      if (push !== 0) {
        types[size++] = push;
        given &= push;
      }
      at += 2;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else if (pass === PASS_LOCAL_SET || pass === PASS_LOCAL_TEE) {
      if (looseBelow >= size && ((types[size - 1] ?? 0) & LOOSE) !== 0) break;
      if (pass === PASS_LOCAL_SET) size--;
      at++;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else break;
    if (size > most) most = size;
    cost += info >>> COST_SHIFT;
  }
  source.at = at;
  operands.size = size;
  operands.most = most;
  operands.looseBelow = looseBelow;
  state.writer.addCost(cost);
  if ((given & INTEGER_BIT) === 0) state.usesFloats = true;
}

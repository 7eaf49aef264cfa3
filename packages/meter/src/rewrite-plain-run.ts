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

const PASS = new Uint8Array(256);
const CONST_TYPE = new Uint8Array(256);
for (let opcode = 0; opcode < 256; opcode++) {
  if (FLOATS[opcode] !== FLOATS_NONE) continue;
  if (KIND[opcode] === KIND_NUMERIC) PASS[opcode] = PASS_NUMERIC;
  if (KIND[opcode] === KIND_MEMORY) PASS[opcode] = PASS_MEMORY;
}
PASS[0x20] = PASS_LOCAL_GET;
PASS[0x21] = PASS_LOCAL_SET;
PASS[0x22] = PASS_LOCAL_TEE;
PASS[0x41] = PASS_CONST;
PASS[0x42] = PASS_CONST;
CONST_TYPE[0x41] = I32;
CONST_TYPE[0x42] = I64;

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
  while (at < end && size < types.length && cost < MOST_COST) {
    const opcode = bytes[at] ?? 0;
    const pass = PASS[opcode];
    if (pass === PASS_LOCAL_GET) {
      const index = bytes[at + 1] ?? 0;
      if (index >= 0x80) break;
      types[size++] = localTypes[index] ?? 0;
      if (size > most) most = size;
      at += 2;
    } else if (pass === PASS_NUMERIC) {
      const push = PUSH[opcode] ?? 0;
      size -= (POPS[opcode] ?? 0) - 1;
      types[size - 1] = push;
      if (push >= LOOSE && size > looseBelow) looseBelow = size;
      at++;
    } else if (pass === PASS_CONST) {
      types[size++] = CONST_TYPE[opcode] ?? 0;
      if (size > most) most = size;
      at++;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else if (pass === PASS_MEMORY) {
      if ((bytes[at + 1] ?? 0) >= 0x40) break;
      size -= POPS[opcode] ?? 0;
      const push = PUSH[opcode] ?? 0;
      if (push !== 0) types[size++] = push;
      at += 2;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else if (pass === PASS_LOCAL_SET || pass === PASS_LOCAL_TEE) {
      if (looseBelow >= size && ((types[size - 1] ?? 0) & LOOSE) !== 0) break;
      if (pass === PASS_LOCAL_SET) size--;
      at++;
      while ((bytes[at++] ?? 0) >= 0x80);
    } else break;
    cost += COST[opcode] ?? 1;
  }
  source.at = at;
  operands.size = size;
  operands.most = most;
  operands.looseBelow = looseBelow;
  state.writer.addCost(cost);
}

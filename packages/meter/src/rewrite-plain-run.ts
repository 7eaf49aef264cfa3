import { COST, FLOATS, FLOATS_NONE, KIND, KIND_MEMORY, KIND_NUMERIC, POPS, PUSH } from "./opcode-table.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { I32, I64, LOOSE, NOTHING } from "./value-type.ts";

/**
 * Packs the properties of an opcode into one number; 0 for opcodes left to `rewriteInstruction`. No opcode has its own
 * branch: the next opcode is unpredictable, and a mispredicted branch costs more time than the work itself.
 */
const INFO = new Int32Array(256);
/** Number of immediate bytes if its numbers take one byte each. */
const IMMEDIATES = 0x3;
const POPS_SHIFT = 2;
const PUSHES = 0x10;
const PUSHES_SHIFT = 4;
/** Operands must not be loose. */
const NEEDS_FIXED = 0x20;
const HAS_ALIGNMENT = 0x40;
/**
 * Ends with a LEB128 number, which may be longer than a byte. In such a byte the same bit means that more bytes follow.
 */
const HAS_NUMBER = 0x80;
/** The result type if the opcode alone determines it; otherwise I32, which has all type bits set. */
const GIVES_SHIFT = 8;
const COST_SHIFT = 16;
const COST_MASK = 0xff;
/**
 * The result has the type of a local, which depends on the number. This is the sign bit, so that a shift turns it into
 * a mask.
 */
const IS_LOCAL_GET = 0x8000_0000;

interface Plain {
  readonly flags: number;
  readonly pops: number;
  readonly push: number;
}

function describe(opcode: number, { flags, pops, push }: Plain): void {
  const pushes = push === NOTHING ? 0 : PUSHES;
  const gives = push === NOTHING ? I32 : push;
  INFO[opcode] = flags | (pops << POPS_SHIFT) | pushes | (gives << GIVES_SHIFT) | ((COST[opcode] ?? 1) << COST_SHIFT);
}

for (let opcode = 0; opcode < 256; opcode++) {
  if (FLOATS[opcode] !== FLOATS_NONE) continue;
  const [pops, push] = [POPS[opcode] ?? 0, PUSH[opcode] ?? NOTHING];
  if (KIND[opcode] === KIND_NUMERIC) describe(opcode, { flags: 0, pops, push });
  if (KIND[opcode] === KIND_MEMORY) describe(opcode, { flags: HAS_ALIGNMENT | HAS_NUMBER | 2, pops, push });
}
describe(0x20, { flags: IS_LOCAL_GET | HAS_NUMBER | 1, pops: 0, push: I32 }); // local.get
describe(0x21, { flags: NEEDS_FIXED | HAS_NUMBER | 1, pops: 1, push: NOTHING }); // local.set
describe(0x22, { flags: NEEDS_FIXED | HAS_NUMBER | 1, pops: 0, push: NOTHING }); // local.tee
describe(0x41, { flags: HAS_NUMBER | 1, pops: 0, push: I32 }); // i32.const
describe(0x42, { flags: HAS_NUMBER | 1, pops: 0, push: I64 }); // i64.const

/** Set in the codes of i32 and i64, but not in those of f32 and f64. */
const INTEGER_BIT = 2;

/** Maximum cost that is added at once here, so that the cost of a run fits into one charge. */
const MAX_COST = 0x8000;

/**
 * Skips instructions that need nothing except their cost, which are most of any module. Any other instruction is left
 * to `rewriteInstruction`, which handles all of them; this function only saves calls.
 */
export function rewritePlainRun(state: RewriteState): void {
  const { source, operands, locals, writer } = state;
  const { bytes, end } = source;
  let { at } = source;
  let mostCost = MAX_COST;
  if (!writer.isInRun) {
    const first = INFO[bytes[at] ?? 0] ?? 0;
    if (first === 0) return;
    state.charge(at, 0);
    // The first instruction of a run does not count toward the limit, as if it were charged separately. The ends of
    // long runs are part of the meter's definition.
    mostCost += (first >> COST_SHIFT) & COST_MASK;
  }
  const { types } = operands;
  const room = types.length;
  const localTypes = locals.types;
  let { size, maxSize, looseBelow } = operands;
  let cost = 0;
  let given = 0xff;
  while (at < end && size < room && cost < mostCost) {
    const info = INFO[bytes[at] ?? 0] ?? 0;
    const first = bytes[at + 1] ?? 0;
    if (info === 0) break;
    const last = at + (info & IMMEDIATES);
    let next = last + 1;
    if (((bytes[last] ?? 0) & info & HAS_NUMBER) !== 0) {
      if (info < 0) break;
      while ((bytes[next++] ?? 0) >= 0x80);
    }
    if ((info & HAS_ALIGNMENT) !== 0 && first >= 0x40) break;
    if (size <= looseBelow && (info & NEEDS_FIXED) !== 0 && ((types[size - 1] ?? 0) & LOOSE) !== 0) break;
    const push = info < 0 ? (localTypes[first] ?? 0) : (info >> GIVES_SHIFT) & 0xff;
    given &= info >> GIVES_SHIFT;
    size -= (info >> POPS_SHIFT) & 3;
    types[size] = push;
    size += (info >> PUSHES_SHIFT) & 1;
    if (size > maxSize) maxSize = size;
    cost += (info >> COST_SHIFT) & COST_MASK;
    at = next;
    if (push >= LOOSE && size > looseBelow) looseBelow = size;
  }
  source.at = at;
  operands.size = size;
  operands.maxSize = maxSize;
  operands.looseBelow = looseBelow;
  writer.addCost(cost);
  if ((given & INTEGER_BIT) === 0) state.usesFloats = true;
}

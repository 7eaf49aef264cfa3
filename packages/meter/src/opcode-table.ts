import { COSTS, PLAIN_COST } from "./cost-table.ts";
import { F32, F64, I32, I64, LOOSE, NOTHING } from "./value-type.ts";

/** How an opcode is read. */
export const KIND_UNKNOWN = 0;
/** Operands and results of fixed types, no immediates. */
export const KIND_NUMERIC = 1;
/** Like `KIND_NUMERIC`, with an alignment and an offset as immediates. */
export const KIND_MEMORY = 2;
/** Handled individually. */
const KIND_OTHER = 3;

/** How an opcode treats floats with loose bits. */
export const FLOATS_NONE = 0;
/** The bits of the top operand become observable, so it is canonicalized first. */
export const FLOATS_FIX = 1;
/** The result is as loose as the lowest operand. */
export const FLOATS_PASS = 2;
/** Both: `copysign` makes the sign of its second operand observable. */
const FLOATS_FIX_AND_PASS = 3;

export const KIND = new Uint8Array(256);
export const POPS = new Uint8Array(256);
/** The result type, with `LOOSE` set if arithmetic produced it. */
export const PUSH = new Uint8Array(256);
export const FLOATS = new Uint8Array(256);
export const COST = new Uint16Array(256);

for (let opcode = 0; opcode < 256; opcode++) COST[opcode] = COSTS.get(opcode) ?? PLAIN_COST;

function numeric(first: number, last: number, pops: number, push: number, floats = FLOATS_NONE): void {
  fill(first, last, KIND_NUMERIC, pops, push, floats);
}

function memory(first: number, last: number, pops: number, push: number, floats = FLOATS_NONE): void {
  fill(first, last, KIND_MEMORY, pops, push, floats);
}

function fill(first: number, last: number, kind: number, pops: number, push: number, floats: number): void {
  KIND.fill(kind, first, last + 1);
  POPS.fill(pops, first, last + 1);
  PUSH.fill(push, first, last + 1);
  FLOATS.fill(floats, first, last + 1);
}

for (const [first, last] of [
  [0x00, 0x05], // unreachable nop block loop if else
  [0x0b, 0x11], // end br br_if br_table return call call_indirect
  [0x1a, 0x1c], // drop select select-with-type
  [0x20, 0x26], // locals, globals, table.get table.set
  [0x3f, 0x44], // memory.size memory.grow, constants
  [0xd0, 0xd2], // ref.null ref.is_null ref.func
  [0xfc, 0xfd], // more opcodes, SIMD
] as const) {
  KIND.fill(KIND_OTHER, first, last + 1);
}

memory(0x28, 0x28, 1, I32);
memory(0x29, 0x29, 1, I64);
memory(0x2a, 0x2a, 1, F32);
memory(0x2b, 0x2b, 1, F64);
memory(0x2c, 0x2f, 1, I32);
memory(0x30, 0x35, 1, I64);
memory(0x36, 0x37, 2, NOTHING);
memory(0x38, 0x39, 2, NOTHING, FLOATS_FIX);
memory(0x3a, 0x3e, 2, NOTHING);

numeric(0x45, 0x45, 1, I32); // i32.eqz
numeric(0x46, 0x4f, 2, I32);
numeric(0x50, 0x50, 1, I32); // i64.eqz
numeric(0x51, 0x66, 2, I32); // comparisons of i64, f32, f64
numeric(0x67, 0x69, 1, I32);
numeric(0x6a, 0x78, 2, I32);
numeric(0x79, 0x7b, 1, I64);
numeric(0x7c, 0x8a, 2, I64);
numeric(0x8b, 0x8c, 1, F32, FLOATS_PASS); // f32.abs f32.neg
numeric(0x8d, 0x91, 1, F32 | LOOSE);
numeric(0x92, 0x97, 2, F32 | LOOSE);
numeric(0x98, 0x98, 2, F32, FLOATS_FIX_AND_PASS); // f32.copysign
numeric(0x99, 0x9a, 1, F64, FLOATS_PASS); // f64.abs f64.neg
numeric(0x9b, 0x9f, 1, F64 | LOOSE);
numeric(0xa0, 0xa5, 2, F64 | LOOSE);
numeric(0xa6, 0xa6, 2, F64, FLOATS_FIX_AND_PASS); // f64.copysign
numeric(0xa7, 0xab, 1, I32); // wrap, truncations
numeric(0xac, 0xb1, 1, I64);
numeric(0xb2, 0xb5, 1, F32); // conversions of integers are never NaN
numeric(0xb6, 0xb6, 1, F32 | LOOSE); // f32.demote_f64
numeric(0xb7, 0xba, 1, F64);
numeric(0xbb, 0xbb, 1, F64 | LOOSE); // f64.promote_f32
numeric(0xbc, 0xbc, 1, I32, FLOATS_FIX); // i32.reinterpret_f32
numeric(0xbd, 0xbd, 1, I64, FLOATS_FIX);
numeric(0xbe, 0xbe, 1, F32);
numeric(0xbf, 0xbf, 1, F64);
numeric(0xc0, 0xc1, 1, I32); // sign extension
numeric(0xc2, 0xc4, 1, I64);

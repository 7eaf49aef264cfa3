import { F32, F64, I32, I64, NOTHING, V128 } from "./value-type.ts";

/** Immediates of an instruction after the prefix 0xfd. */
const SIMD_PLAIN = 1;
export const SIMD_MEMORY = 2;
export const SIMD_LANE = 3;
export const SIMD_MEMORY_LANE = 4;
export const SIMD_SIXTEEN_BYTES = 5;

/** The first number of relaxed SIMD. */
export const FIRST_RELAXED = 0x100;

export const SIMD_KIND = new Uint8Array(FIRST_RELAXED).fill(SIMD_PLAIN);
export const SIMD_POPS = new Uint8Array(FIRST_RELAXED).fill(2);
export const SIMD_PUSH = new Uint8Array(FIRST_RELAXED).fill(V128);

function set(first: number, last: number, kind: number, pops: number, push: number): void {
  SIMD_KIND.fill(kind, first, last + 1);
  SIMD_POPS.fill(pops, first, last + 1);
  SIMD_PUSH.fill(push, first, last + 1);
}

set(0x00, 0x0a, SIMD_MEMORY, 1, V128); // loads
set(0x0b, 0x0b, SIMD_MEMORY, 2, NOTHING); // v128.store
set(0x0c, 0x0c, SIMD_SIXTEEN_BYTES, 0, V128); // v128.const
set(0x0d, 0x0d, SIMD_SIXTEEN_BYTES, 2, V128); // i8x16.shuffle
set(0x0f, 0x14, SIMD_PLAIN, 1, V128); // splats
for (const [extract, count, type] of [
  [0x15, 2, I32],
  [0x18, 2, I32],
  [0x1b, 1, I32],
  [0x1d, 1, I64],
  [0x1f, 1, F32],
  [0x21, 1, F64],
] as const) {
  set(extract, extract + count - 1, SIMD_LANE, 1, type);
  set(extract + count, extract + count, SIMD_LANE, 2, V128);
}
set(0x52, 0x52, SIMD_PLAIN, 3, V128); // v128.bitselect
set(0x54, 0x57, SIMD_MEMORY_LANE, 2, V128);
set(0x58, 0x5b, SIMD_MEMORY_LANE, 2, NOTHING);
set(0x5c, 0x5d, SIMD_MEMORY, 1, V128);
for (const test of [0x53, 0x63, 0x64, 0x83, 0x84, 0xa3, 0xa4, 0xc3, 0xc4]) set(test, test, SIMD_PLAIN, 1, I32);
for (const [first, last] of [
  [0x4d, 0x4d],
  [0x5e, 0x62],
  [0x67, 0x6a],
  [0x74, 0x75],
  [0x7a, 0x7a],
  [0x7c, 0x81],
  [0x87, 0x8a],
  [0x94, 0x94],
  [0xa0, 0xa1],
  [0xa7, 0xaa],
  [0xc0, 0xc1],
  [0xc7, 0xca],
  [0xe0, 0xe1],
  [0xe3, 0xe3],
  [0xec, 0xed],
  [0xef, 0xef],
  [0xf8, 0xff],
] as const) {
  set(first, last, SIMD_PLAIN, 1, V128);
}

import { PLAIN_COST } from "./cost-table.ts";
import { Rejection } from "./meter-reason.ts";
import type { RewriteState } from "./rewrite-state.ts";
import {
  FIRST_RELAXED,
  SIMD_KIND,
  SIMD_LANE,
  SIMD_MEMORY,
  SIMD_MEMORY_LANE,
  SIMD_POPS,
  SIMD_PUSH,
  SIMD_SIXTEEN_BYTES,
} from "./simd-table.ts";

/** Rewrites instructions after the prefix 0xfd. */
export function rewriteSimd(state: RewriteState, at: number): void {
  const { operands } = state;
  state.charge(at, PLAIN_COST);
  const number = skipSimd(state, at);
  // The float on top becomes a lane, whose bits are observable.
  state.canonicalizeTop(at, 1);
  operands.size -= SIMD_POPS[number] ?? 0;
  const push = SIMD_PUSH[number] ?? 0;
  if (push !== 0) operands.push(push);
}

/** Skips the immediates of an instruction and returns its number. */
export function skipSimd(state: RewriteState, at: number): number {
  const { source } = state;
  const number = source.u32();
  if (!state.allowSimd) throw new Rejection("simd", at);
  if (number >= FIRST_RELAXED) throw new Rejection("relaxed-simd", at);
  state.usesSimd = true;
  const kind = SIMD_KIND[number];
  if (kind === SIMD_MEMORY || kind === SIMD_MEMORY_LANE) state.memoryArgument(at);
  if (kind === SIMD_LANE || kind === SIMD_MEMORY_LANE) source.skip(1);
  if (kind === SIMD_SIXTEEN_BYTES) source.skip(16);
  return number;
}

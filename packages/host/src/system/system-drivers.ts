import { randomFillSync } from "node:crypto";
import type { Clock, Random } from "@narthex/kernel";

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const POOL_BYTES = 16_384;

/** Provides the system's random bytes, drawn in pools: one draw serves many nonces. Every byte is used once. */
export function createSystemRandom(): Random {
  let pool = new Uint8Array(0);
  let used = 0;
  return {
    bytes(length) {
      if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
      if (used + length > pool.length) {
        pool = randomFillSync(new Uint8Array(POOL_BYTES));
        used = 0;
      }
      used += length;
      return pool.slice(used - length, used);
    },
  };
}

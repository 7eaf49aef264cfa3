import type { Kernel } from "@narthex/kernel";

/** Limits the bytes of requests and responses that the doors of one kernel hold at the same time. */
export interface ByteBudget {
  /** Acquires the bytes at once or not at all. Never overtakes a waiter. */
  tryAcquire(bytes: number): boolean;
  /**
   * Calls back once the bytes are acquired; first come, first served. The returned function stops waiting. Right after
   * a failed `tryAcquire` it never calls back before it returns.
   */
  acquire(bytes: number, onAcquired: () => void): () => void;
  /** Acquires the bytes even beyond the limit: for data that exists already and cannot wait. */
  acquireOverLimit(bytes: number): void;
  release(bytes: number): void;
  readonly used: number;
}

export const DEFAULT_BYTES_IN_FLIGHT = 256 * 1024 * 1024;

const budgets = new WeakMap<Kernel, ByteBudget>();

/** Returns the single budget of a kernel, shared by all its doors. */
export function getByteBudget(kernel: Kernel): ByteBudget {
  let budget = budgets.get(kernel);
  if (budget === undefined) {
    budget = createByteBudget(DEFAULT_BYTES_IN_FLIGHT);
    budgets.set(kernel, budget);
  }
  return budget;
}

export function createByteBudget(limit: number): ByteBudget {
  const waiting = new Set<{ readonly bytes: number; readonly taken: () => void }>();
  let used = 0;

  // INVARIANT: something larger than the whole limit still passes, alone; otherwise it would wait for ever.
  const fits = (bytes: number): boolean => used === 0 || used + bytes <= limit;

  function serveWaiting(): void {
    for (const waiter of waiting) {
      if (!fits(waiter.bytes)) return;
      waiting.delete(waiter);
      used += waiter.bytes;
      waiter.taken();
    }
  }

  return {
    tryAcquire(bytes) {
      if (waiting.size > 0 || !fits(bytes)) return false;
      used += bytes;
      return true;
    },
    acquire(bytes, onAcquired) {
      const waiter = { bytes, taken: onAcquired };
      waiting.add(waiter);
      serveWaiting();
      return () => {
        if (waiting.delete(waiter)) serveWaiting();
      };
    },
    acquireOverLimit(bytes) {
      used += bytes;
    },
    release(bytes) {
      used -= bytes;
      if (waiting.size > 0) serveWaiting();
    },
    get used() {
      return used;
    },
  };
}

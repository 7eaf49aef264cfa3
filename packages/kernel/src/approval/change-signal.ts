/** Wakes all waiters after a change. */
export interface ChangeSignal {
  notify(): void;
  /** The number of changes so far. */
  readonly count: number;
  /** Resolves once there have been more than `count` changes, or the signal aborts. */
  waitForMore(count: number, signal: AbortSignal): Promise<void>;
}

export function createChangeSignal(): ChangeSignal {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    notify() {
      count++;
      for (const wake of waiting) wake();
    },
    waitForMore(seen, signal) {
      if (count > seen || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        waiting.add(done);
        signal.addEventListener("abort", done, { once: true });
      });
    },
  };
}

/**
 * Passes values from a producer that pushes to a consumer that iterates. The producer waits until each value was
 * consumed, so at most one is held.
 */
export interface Handoff<T> {
  /** Resolves when the consumer requests the next value, or has stopped. */
  give(value: T): Promise<void>;
  /** Called after the last value. */
  end(): void;
  values(): AsyncGenerator<T, void>;
}

export function createHandoff<T>(): Handoff<T> {
  const waiting: { readonly value: T; readonly taken: () => void }[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  let gone = false;

  const notify = (): void => {
    wake?.();
    wake = undefined;
  };

  return {
    give(value) {
      if (gone || ended) return Promise.resolve();
      return new Promise((taken) => {
        waiting.push({ value, taken });
        notify();
      });
    },
    end() {
      ended = true;
      notify();
    },
    async *values() {
      try {
        for (;;) {
          const [next] = waiting;
          if (next !== undefined) {
            yield next.value;
            waiting.shift()?.taken();
          } else if (ended) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        gone = true;
        for (const { taken } of waiting.splice(0)) taken();
      }
    },
  };
}

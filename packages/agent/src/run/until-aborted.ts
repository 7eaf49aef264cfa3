/** What a source gives until a signal aborts. Then it throws, also if the source takes no notice and never gives anything. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  // Nobody may be waiting for it when it happens.
  aborted.promise.catch(() => undefined);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // A source that hangs does not hold up its reader.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

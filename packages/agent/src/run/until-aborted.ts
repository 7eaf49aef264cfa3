/**
 * Yields the items of a source until a signal aborts. Then throws, even if the source ignores the signal and never
 * yields.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  // Prevents an unhandled rejection if it aborts while nothing waits for it.
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
    // Not awaited, so that a source that hangs does not block its reader.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

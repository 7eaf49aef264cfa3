/** Mutual exclusion in order of arrival. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is this caller's turn, with the release function. Throws once the signal is aborted. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#last = before.then(() => left);
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => abort(), { once: true });
    if (signal.aborted) abort();
    await Promise.race([before, aborted]);
    if (!signal.aborted) return leave;
    leave();
    throw signal.reason;
  }
}

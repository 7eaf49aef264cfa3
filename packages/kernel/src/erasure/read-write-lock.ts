/** A lock held by many readers or one writer. A waiting writer takes precedence over readers that arrive after it. */
export class ReadWriteLock {
  #sharing = 0;
  #alone: Promise<void> | undefined;
  #onFree: (() => void) | undefined;

  async withShared<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    this.#sharing++;
    try {
      return await work();
    } finally {
      this.#sharing--;
      if (this.#sharing === 0) this.#onFree?.();
    }
  }

  async withExclusive<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    const done = Promise.withResolvers<void>();
    this.#alone = done.promise;
    try {
      if (this.#sharing > 0) await new Promise<void>((resolve) => (this.#onFree = resolve));
      return await work();
    } finally {
      this.#onFree = undefined;
      this.#alone = undefined;
      done.resolve();
    }
  }
}

/** Many may share it, or one has it alone. Whoever waits to have it alone comes before whoever comes later to share it. */
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

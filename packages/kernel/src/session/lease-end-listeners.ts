/**
 * Notifies listeners when a session's lease is revoked or expires: tools offered to a client under it cannot be called
 * any more.
 */
export class LeaseEndListeners {
  readonly #listeners = new Set<(sessionId: string) => void>();

  notify(sessionId: string): void {
    for (const told of this.#listeners) told(sessionId);
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: (sessionId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

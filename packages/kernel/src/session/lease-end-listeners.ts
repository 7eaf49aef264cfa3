/** Tells which session's lease was revoked or expired: what a client was offered under it cannot be called any more. */
export class LeaseEndListeners {
  readonly #listeners = new Set<(sessionId: string) => void>();

  notify(sessionId: string): void {
    for (const told of this.#listeners) told(sessionId);
  }

  /** Gives the end of it. */
  listen(listener: (sessionId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

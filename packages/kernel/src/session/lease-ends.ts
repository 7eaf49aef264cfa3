/** Tells which session's lease was revoked or expired: what a client was offered under it cannot be called any more. */
export class LeaseEnds {
  readonly #listeners = new Set<(sessionId: string) => void>();

  tell(sessionId: string): void {
    for (const told of this.#listeners) told(sessionId);
  }

  /** Gives the end of it. */
  listen(told: (sessionId: string) => void): () => void {
    this.#listeners.add(told);
    return () => void this.#listeners.delete(told);
  }
}

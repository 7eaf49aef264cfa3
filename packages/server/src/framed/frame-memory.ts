import type { ByteBudget } from "../byte-budget.ts";

/**
 * What the frame being read occupies of the two budgets: that of frames to be run, and that of unauthenticated clients.
 */
export class FrameMemory {
  readonly #budget: ByteBudget;
  readonly #strangers: ByteBudget;
  #charged = 0;
  #strangerBytes = 0;
  #stopWaiting: (() => void) | undefined;

  constructor(budget: ByteBudget, strangers: ByteBudget) {
    this.#budget = budget;
    this.#strangers = strangers;
  }

  /** Acquires the bytes of the whole frame; false if that has to wait, and then `onAcquired` is called. */
  charge(length: number, onAcquired: () => void): boolean {
    if (this.#charged > 0) return true;
    if (this.#budget.tryAcquire(length)) {
      this.#charged = length;
      return true;
    }
    this.#stopWaiting = this.#budget.acquire(length, () => {
      this.#charged = length;
      onAcquired();
    });
    return false;
  }

  /** Counts received bytes of an unauthenticated frame; false if such frames hold too much already. */
  chargeUnauthenticated(bytes: number): boolean {
    if (!this.#strangers.tryAcquire(bytes - this.#strangerBytes)) return false;
    this.#strangerBytes = bytes;
    return true;
  }

  releaseUnauthenticated(): void {
    if (this.#strangerBytes === 0) return;
    this.#strangers.release(this.#strangerBytes);
    this.#strangerBytes = 0;
  }

  /** Passes the frame's bytes to its call, which releases them. */
  handOver(): number {
    const charged = this.#charged;
    this.#charged = 0;
    return charged;
  }

  release(): void {
    this.#stopWaiting?.();
    this.releaseUnauthenticated();
    this.#budget.release(this.handOver());
  }
}

import type { ByteBudget } from "../byte-budget.ts";

/** What the frame being read holds of the two budgets: that of frames to be run, and that of strangers. */
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

  /** Takes the whole frame; false if that has to wait, and then `taken` is called. */
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

  /** Counts what arrived of a stranger's frame; false if strangers hold too much already. */
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

  /** The frame's bytes now belong to its call, which gives them back. */
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

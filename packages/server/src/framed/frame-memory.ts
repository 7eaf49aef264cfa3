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
  charge(length: number, taken: () => void): boolean {
    if (this.#charged > 0) return true;
    if (this.#budget.tryTake(length)) {
      this.#charged = length;
      return true;
    }
    this.#stopWaiting = this.#budget.whenTaken(length, () => {
      this.#charged = length;
      taken();
    });
    return false;
  }

  /** Counts what arrived of a stranger's frame; false if strangers hold too much already. */
  chargeStranger(bytes: number): boolean {
    if (!this.#strangers.tryTake(bytes - this.#strangerBytes)) return false;
    this.#strangerBytes = bytes;
    return true;
  }

  releaseStranger(): void {
    if (this.#strangerBytes === 0) return;
    this.#strangers.give(this.#strangerBytes);
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
    this.releaseStranger();
    this.#budget.give(this.handOver());
  }
}

import type { CallAnswer } from "./call-answer.ts";

/**
 * One call under way, shared by everyone who waits for it: its own caller, and callers who repeated it. It is
 * cancelled by the last one leaving only if it can do no harm half done; `cancel` cancels it whatever it does.
 */
export class RunningCall {
  readonly requestId: string;
  readonly digest: Uint8Array;
  readonly dedupeKey: string;
  readonly answer: Promise<CallAnswer>;
  readonly #abort = new AbortController();
  #settle: (answer: CallAnswer) => void = () => undefined;
  #isSettled = false;
  #waiters = 0;
  /** Set by `grant`: effects may follow, so a disconnect no longer cancels. */
  finishesAlone = false;

  constructor(requestId: string, digest: Uint8Array, dedupeKey: string) {
    this.requestId = requestId;
    this.digest = digest;
    this.dedupeKey = dedupeKey;
    this.answer = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Aborts on a cancel, or when the last waiter has left a call that may be dropped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Cancelled because nobody waited for it: not the answer of someone who comes now. */
  get isAbandoned(): boolean {
    return this.signal.aborted && this.signal.reason === ("disconnected" satisfies CancelReason);
  }

  settle(answer: CallAnswer): void {
    this.#isSettled = true;
    this.#settle(answer);
  }

  cancel(reason: CancelReason): void {
    this.#abort.abort(reason);
  }

  /** Counts a waiter until it leaves, or until its signal aborts. */
  join(signal: AbortSignal | undefined, onGone?: () => void): Waiter {
    this.#waiters++;
    let hasLeft = false;
    const leave = (): void => {
      signal?.removeEventListener("abort", gone);
      if (hasLeft) return;
      hasLeft = true;
      this.#waiters--;
      if (this.#waiters === 0 && !this.finishesAlone && !this.#isSettled) this.cancel("disconnected");
    };
    const gone = (): void => {
      leave();
      onGone?.();
    };
    if (signal?.aborted === true) gone();
    else signal?.addEventListener("abort", gone, { once: true });
    return { leave };
  }
}

export interface Waiter {
  leave(): void;
}

/** Why a call was cancelled. */
export type CancelReason = "cancelled" | "disconnected" | "revoked" | "closing";

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

  settle(answer: CallAnswer): void {
    this.#settle(answer);
  }

  cancel(reason: CancelReason): void {
    this.#abort.abort(reason);
  }

  /** Counts a waiter until it leaves: by its signal, or by `leave` once it has what it came for. */
  join(signal: AbortSignal | undefined): Waiter {
    this.#waiters++;
    let gone: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const abort = (): void => {
      signal?.removeEventListener("abort", abort);
      gone();
      this.#waiters--;
      if (this.#waiters === 0 && !this.finishesAlone) this.cancel("disconnected");
    };
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    return { left, leave: () => signal?.removeEventListener("abort", abort) };
  }
}

export interface Waiter {
  /** Resolves if the waiter's signal aborts. */
  readonly left: Promise<void>;
  leave(): void;
}

/** Why a call was cancelled. */
export type CancelReason = "cancelled" | "disconnected" | "revoked" | "closing";

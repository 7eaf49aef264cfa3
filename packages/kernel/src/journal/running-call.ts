import type { CallResponse } from "./call-response.ts";
import type { Fingerprint } from "./used-request-ids.ts";

/**
 * One call under way, shared by everyone who waits for it: its own caller, and callers who repeated it. It is
 * cancelled by the last one leaving only if it can do no harm half done; `cancel` cancels it whatever it does.
 *
 * Holds as little as it can, and makes what few calls need when they need it: maps from which entries come and go keep
 * them alive until the next full garbage collection.
 */
export class RunningCall {
  readonly requestId: string;
  readonly digest: Uint8Array;
  readonly dedupeKey: string;
  /** Of the request id. */
  readonly fingerprint: Fingerprint;
  #abort: AbortController | undefined;
  #cancelled: CancelReason | undefined;
  #answer: PromiseWithResolvers<CallResponse> | undefined;
  #isSettled = false;
  #waiters = 0;
  /** Told of a cancel: whoever runs the tool. */
  onCancel: ((reason: CancelReason) => void) | undefined;
  /** Set by `grant`: effects may follow, so a disconnect no longer cancels. */
  survivesDisconnect = false;

  constructor(requestId: string, digest: Uint8Array, dedupeKey: string, fingerprint: Fingerprint) {
    this.requestId = requestId;
    this.digest = digest;
    this.dedupeKey = dedupeKey;
    this.fingerprint = fingerprint;
  }

  /** Resolves when the call is settled. To be asked for before that. */
  get response(): Promise<CallResponse> {
    this.#answer ??= Promise.withResolvers();
    return this.#answer.promise;
  }

  /** Why it was cancelled: by someone, or because the last waiter has left a call that may be dropped. */
  get cancelled(): CancelReason | undefined {
    return this.#cancelled;
  }

  /** Aborts on a cancel. Made when it is asked for: most calls never need one. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#cancelled !== undefined) this.#abort.abort(this.#cancelled);
    return this.#abort.signal;
  }

  /** Cancelled because nobody waited for it: not the answer of someone who comes now. */
  get isAbandoned(): boolean {
    return this.#cancelled === "disconnected";
  }

  settle(answer: CallResponse): void {
    this.#isSettled = true;
    this.#answer?.resolve(answer);
  }

  cancel(reason: CancelReason): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#abort?.abort(reason);
    this.onCancel?.(reason);
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
      if (this.#waiters === 0 && !this.survivesDisconnect && !this.#isSettled) this.cancel("disconnected");
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
export type CancelReason = "cancelled" | "disconnected" | "revoked" | "expired" | "closing";

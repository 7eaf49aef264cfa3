import type { CallResponse } from "./call-response.ts";
import type { Fingerprint } from "./used-request-ids.ts";

/**
 * A running call, shared by all its waiters: its own caller, and callers that repeated the request. When the last
 * waiter leaves, the call is cancelled only if stopping it half done does no harm; `cancel` always cancels it.
 *
 * Keeps few fields and creates rarely needed ones on first use: the maps that hold calls keep them alive until the next
 * full garbage collection.
 */
export class RunningCall {
  readonly requestId: string;
  readonly digest: Uint8Array;
  readonly dedupeKey: string;
  /** Fingerprint of the request id. */
  readonly fingerprint: Fingerprint;
  #abort: AbortController | undefined;
  #cancelled: CancelReason | undefined;
  #answer: PromiseWithResolvers<CallResponse> | undefined;
  #isSettled = false;
  #waiters = 0;
  /** Called on a cancel; set by the code that runs the tool. */
  onCancel: ((reason: CancelReason) => void) | undefined;
  /** Set by `grant`: the call may have effects from then on, so a disconnect no longer cancels it. */
  survivesDisconnect = false;

  constructor(requestId: string, digest: Uint8Array, dedupeKey: string, fingerprint: Fingerprint) {
    this.requestId = requestId;
    this.digest = digest;
    this.dedupeKey = dedupeKey;
    this.fingerprint = fingerprint;
  }

  /** Resolves when the call is settled. Must be read before that. */
  get response(): Promise<CallResponse> {
    this.#answer ??= Promise.withResolvers();
    return this.#answer.promise;
  }

  /** Why the call was cancelled: explicitly, or because the last waiter left a call that may be dropped. */
  get cancelled(): CancelReason | undefined {
    return this.#cancelled;
  }

  /** Aborts on a cancel. Created on first use, because most calls never need it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#cancelled !== undefined) this.#abort.abort(this.#cancelled);
    return this.#abort.signal;
  }

  /** Cancelled because no caller waited for it: its response is not valid for a caller that arrives now. */
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

  /** Counts a waiter until it leaves or its signal aborts. */
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

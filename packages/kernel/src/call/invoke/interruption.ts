import type { CancelReason, RunningCall } from "../../journal/running-call.ts";
import { Failed } from "../ending.ts";
import type { SealedGrant } from "../grant/grant.ts";

/** Time-out and cancellation of one running tool: the first of them aborts the tool's signal. */
export class Interruption {
  /** Why the tool was interrupted, if it was. */
  failed: Failed | undefined;
  readonly #grant: SealedGrant;
  readonly #running: RunningCall | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wake: ((failed: Failed) => void) | undefined;

  constructor(grant: SealedGrant, running: RunningCall | undefined) {
    this.#grant = grant;
    this.#running = running;
    if (running === undefined) return;
    if (running.cancelled !== undefined) this.#cancel(running.cancelled);
    else running.onCancel = (reason) => this.#cancel(reason);
  }

  /**
   * Resolves with the work's result, or with the reason of an interruption that comes first. Keeps no reference to
   * finished work.
   */
  race<T>(work: PromiseLike<T>): Promise<T | Failed> {
    // Set at the first wait: a tool that returns synchronously needs no timer.
    this.#timer ??= setTimeout(() => this.#timeOut(), this.#grant.timeoutMs);
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      if (this.failed !== undefined) resolve(this.failed);
      work.then(resolve, reject);
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    if (this.#running !== undefined) this.#running.onCancel = undefined;
  }

  #timeOut(): void {
    this.#stop(new Failed("TIMEOUT", `the tool did not finish within ${this.#grant.timeoutMs} ms`));
  }

  #cancel(reason: CancelReason): void {
    this.#stop(new Failed("CANCELLED", EXPLANATIONS[reason]));
  }

  #stop(failed: Failed): void {
    this.failed ??= failed;
    this.#wake?.(this.failed);
    this.#grant.end(this.failed.message);
  }
}

const EXPLANATIONS: Readonly<Record<CancelReason, string>> = {
  cancelled: "the call was cancelled",
  disconnected: "everyone who waited for the call has left",
  revoked: "the lease behind the call was revoked",
  expired: "the lease behind the call expired (LEASE_EXPIRED)",
  closing: "the kernel shut down before the call finished",
};

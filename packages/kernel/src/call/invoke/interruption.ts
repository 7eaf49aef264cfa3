import type { CancelReason } from "../../journal/running-call.ts";
import { Failed } from "../ending.ts";
import type { SealedGrant } from "../grant/grant.ts";

/** The time-out and the cancel of one running tool: whichever comes first aborts the tool's signal. */
export interface Interruption {
  /** The work's own end, or why it was interrupted before. Keeps nothing of finished work. */
  race<T>(work: PromiseLike<T>): Promise<T | Failed>;
  /** Why the tool was interrupted, if it was. */
  readonly failed: Failed | undefined;
  dispose(): void;
}

export function createInterruption(grant: SealedGrant, cancelled: AbortSignal | undefined): Interruption {
  let failed: Failed | undefined;
  let wake: ((failed: Failed) => void) | undefined;
  const stop = (reason: Failed): void => {
    failed ??= reason;
    wake?.(failed);
    grant.abort(reason.message);
  };
  const timer = setTimeout(
    () => stop(new Failed("TIMEOUT", `the tool did not finish within ${grant.timeoutMs} ms`)),
    grant.timeoutMs,
  );
  const onCancel = (): void => stop(new Failed("CANCELLED", explain(cancelled?.reason)));
  if (cancelled?.aborted === true) onCancel();
  else cancelled?.addEventListener("abort", onCancel, { once: true });
  return {
    race: (work) =>
      new Promise((resolve, reject) => {
        wake = resolve;
        if (failed !== undefined) resolve(failed);
        work.then(resolve, reject);
      }),
    get failed() {
      return failed;
    },
    dispose() {
      clearTimeout(timer);
      cancelled?.removeEventListener("abort", onCancel);
    },
  };
}

function explain(reason: unknown): string {
  switch (reason as CancelReason) {
    case "disconnected":
      return "everyone who waited for the call has left";
    case "revoked":
      return "the lease behind the call was revoked";
    case "closing":
      return "the kernel shut down before the call finished";
    default:
      return "the call was cancelled";
  }
}

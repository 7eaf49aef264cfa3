import type { KernelParts } from "../kernel-parts.ts";
import { closeSession } from "./close-session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const SWEEP_MS = 30_000;

/** Closes sessions whose time is over, so that they cost no memory. Their calls are refused from the moment itself. */
export function startExpiry(kernel: KernelParts): NodeJS.Timeout {
  const sweep = (): void => {
    const nowMs = kernel.ledger.nowMs();
    for (const live of [...kernel.sessions.live()]) {
      if (sessionStateAt(live.session, nowMs) !== "expired") continue;
      closeSession(live.id, "expired", kernel).catch((fault: unknown) => {
        kernel.log("warn", "an expired session could not be closed", { session: live.id, cause: String(fault) });
      });
    }
  };
  return setInterval(sweep, SWEEP_MS).unref();
}

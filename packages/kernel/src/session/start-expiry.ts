import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import { closeSession } from "./close-session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const SWEEP_MS = 30_000;

/** Closes sessions whose time is over, so that they cost no memory. Their calls are refused from the moment itself. */
export function startExpiry(kernel: KernelParts): NodeJS.Timeout {
  return setInterval(() => sweepSessions(kernel), SWEEP_MS).unref();
}

function sweepSessions(kernel: KernelParts): void {
  const nowMs = kernel.ledger.nowMs();
  for (const live of kernel.sessions.live()) {
    const state = sessionStateAt(live.session, nowMs);
    // Whoever is shut out is known from the store alone.
    if (state === "quarantined" && live.isIdle) kernel.sessions.forget(live.id);
    if (state !== "expired") continue;
    closeSession(live.id, "expired", kernel).catch((fault: unknown) => {
      kernel.log("warn", "an expired session could not be closed", { session: live.id, cause: describeFault(fault) });
    });
  }
}

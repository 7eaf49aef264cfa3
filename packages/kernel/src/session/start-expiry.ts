import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import { closeSession } from "./close-session.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const SWEEP_MS = 30_000;

/** Closes sessions whose time is over, so that they cost no memory. Their calls are refused from the moment itself. */
export function startExpiry(kernel: KernelParts): NodeJS.Timeout {
  sweepSessions(kernel);
  return setInterval(() => sweepSessions(kernel), SWEEP_MS).unref();
}

function sweepSessions(kernel: KernelParts): void {
  const nowMs = kernel.ledger.nowMs();
  for (const live of kernel.sessions.live()) {
    const state = sessionStateAt(live.session, nowMs);
    // Whoever is shut out is known from the store alone.
    if (state === "quarantined" && live.isIdle && live.children.size === 0) kernel.sessions.forget(live.id);
    if (state === "expired") expire(live.id, kernel);
    else for (const sessionId of endedBelow(live, nowMs)) expire(sessionId, kernel);
  }
}

/** Sessions split off this one whose lease is over: what they did not spend is needed here. */
function endedBelow(live: LiveSession, nowMs: number): string[] {
  const over = live.carvings.values().filter((carving) => !carving.ended && nowMs >= carving.expiresAtMs);
  return over.map(({ sessionId }) => sessionId);
}

function expire(sessionId: string, kernel: KernelParts): void {
  closeSession(sessionId, "expired", kernel).catch((fault: unknown) => {
    kernel.log("warn", "an expired session could not be closed", { session: sessionId, cause: describeFault(fault) });
  });
}

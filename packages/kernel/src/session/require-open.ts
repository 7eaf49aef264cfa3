import { KernelError, type RationaleCode } from "@narthex/contracts";
import { requireLease } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";
import type { SessionState } from "./session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const REFUSALS: Readonly<Record<Exclude<SessionState, "open">, readonly [RationaleCode, string]>> = {
  closed: ["SESSION_CLOSED", "this session was closed; open a new one"],
  expired: ["SESSION_EXPIRED", "this session has expired; open a new one"],
  quarantined: ["SESSION_QUARANTINED", "this session is quarantined after containment violations"],
};

/**
 * Throws unless the session and all its ancestors are open.
 *
 * SECURITY: the error is the same for an unknown session and a wrong token, so ids cannot be probed.
 */
export function requireOpen(live: LiveSession | undefined, nowMs: number): LiveSession {
  if (live === undefined) {
    throw new KernelError("SESSION_UNKNOWN", "no session has this token; open one with `narthex session open`");
  }
  const state = sessionStateAt(live.session, nowMs);
  if (state !== "open") {
    const [code, message] = REFUSALS[state];
    throw new KernelError(code, message);
  }
  if (live.parent !== undefined) requireOpenAncestors(live.parent, nowMs);
  return live;
}

/**
 * Throws unless the session and its ancestors are open and their leases valid. For operations that are not calls:
 * nothing is stored or read under a lease that has ended.
 */
export function requireUsable(live: LiveSession | undefined, nowMs: number): LiveSession {
  const session = requireOpen(live, nowMs);
  requireLease(session, nowMs);
  return session;
}

/** SECURITY: otherwise a quarantined session could continue through its children. */
function requireOpenAncestors(parent: LiveSession, nowMs: number): void {
  for (let above: LiveSession | undefined = parent; above !== undefined; above = above.parent) {
    const state = sessionStateAt(above.session, nowMs);
    if (state !== "open")
      throw new KernelError(REFUSALS[state][0], `a session that this one was split off is ${state}`);
  }
}

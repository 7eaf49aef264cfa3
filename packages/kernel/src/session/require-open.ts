import { KernelError, type RationaleCode } from "@narthex/contracts";
import type { LiveSession } from "./live-session.ts";
import type { SessionState } from "./session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const REFUSALS: Readonly<Record<Exclude<SessionState, "open">, readonly [RationaleCode, string]>> = {
  closed: ["SESSION_CLOSED", "this session was closed; open a new one"],
  expired: ["SESSION_EXPIRED", "this session has expired; open a new one"],
  quarantined: ["SESSION_QUARANTINED", "this session is quarantined after containment violations"],
};

/** SECURITY: an unknown session and a wrong token answer alike, so ids cannot be probed. */
export function requireOpen(live: LiveSession | undefined, nowMs: number): LiveSession {
  if (live === undefined) {
    throw new KernelError("SESSION_UNKNOWN", "no session has this token; open one with `narthex session open`");
  }
  const state = sessionStateAt(live.session, nowMs);
  if (state === "open") return live;
  const [code, message] = REFUSALS[state];
  throw new KernelError(code, message);
}

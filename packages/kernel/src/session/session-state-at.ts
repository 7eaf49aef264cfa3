import type { Session, SessionState } from "./session.ts";

/** The state in which a session is at a moment: open sessions expire by themselves, all others stay as they are. */
export function sessionStateAt(session: Session, nowMs: number): SessionState {
  if (session.state !== "open") return session.state;
  // SECURITY: written so that a time that is not a number is past the end.
  return nowMs < session.expiresAtMs ? "open" : "expired";
}

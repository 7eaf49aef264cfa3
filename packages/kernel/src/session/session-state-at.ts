import type { Session, SessionState } from "./session.ts";

/** The state of a session at a moment. Open sessions expire with time; other states do not. */
export function sessionStateAt(session: Session, nowMs: number): SessionState {
  if (session.state !== "open") return session.state;
  // SECURITY: this comparison treats a time that is not a number as past the end.
  return nowMs < session.expiresAtMs ? "open" : "expired";
}

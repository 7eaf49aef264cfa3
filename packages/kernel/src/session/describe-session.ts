import type { SessionFacts } from "../kernel.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionStateAt } from "./session-state-at.ts";

/** A session at a moment, as shown to administrators. */
export function describeSession(live: LiveSession, nowMs: number): SessionFacts {
  const { session, lease, calls, labels } = live;
  return {
    session: { ...session, calls, labels, state: sessionStateAt(session, nowMs) },
    lease,
    budgetRemaining: live.account.remaining(),
  };
}

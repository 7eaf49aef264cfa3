import type { ConsoleKernel } from "./console-kernel.ts";

/** Who makes the calls of a session. */
export interface CallerNames {
  readonly agent: string;
  readonly user: string;
}

/** Sessions whose names are kept; the oldest is forgotten first. */
const MAX_KEPT = 1000;
const UNKNOWN: CallerNames = { agent: "", user: "" };

/** Looks each session up once. A session that the store no longer has is without names. */
export function createCallerNames(
  kernel: Pick<ConsoleKernel, "getSession">,
): (sessionId: string) => Promise<CallerNames> {
  const kept = new Map<string, CallerNames>();
  return async (sessionId) => {
    const known = kept.get(sessionId);
    if (known !== undefined) return known;
    const facts = await kernel.getSession(sessionId);
    const names = facts === undefined ? UNKNOWN : { agent: facts.session.agent, user: facts.session.user };
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(sessionId, names);
    return names;
  };
}

import type { ConsoleKernel } from "./console-kernel.ts";

/** Names of the user and the agent behind a session's calls. */
export interface CallerNames {
  readonly agent: string;
  readonly user: string;
}

/** Maximum number of sessions whose names are cached; the oldest is dropped first. */
const MAX_KEPT = 1000;
const UNKNOWN: CallerNames = { agent: "", user: "" };

/** Looks up each session once. A session that the store no longer has gets no names. */
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

import { KernelError } from "@narthex/contracts";
import { leaseProblem } from "../lease/check-lease.ts";
import type { LiveSession } from "./live-session.ts";

/** Delegation depth: the number of ancestors of a session. */
export function delegationDepth(live: LiveSession): number {
  let depth = 0;
  for (let above = live.parent; above !== undefined; above = above.parent) depth++;
  return depth;
}

/** The ancestor without a parent; the session itself if it has none. */
export function rootSession(live: LiveSession): LiveSession {
  let root = live;
  while (root.parent !== undefined) root = root.parent;
  return root;
}

/**
 * Why a session's lease is not valid at a moment: its own state, or that of an ancestor's lease.
 *
 * SECURITY: every lease up to the root is checked each time, so that revoking one takes effect below it at once, also
 * for sessions that are in the store only.
 */
export function lineageProblem(
  live: LiveSession | undefined,
  nowMs: number,
): "LEASE_REVOKED" | "LEASE_EXPIRED" | undefined {
  for (let holder = live; holder !== undefined; holder = holder.parent) {
    const problem = leaseProblem(holder.lease, nowMs);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Throws unless the session's lease and those of all its ancestors are valid. */
export function requireLease(live: LiveSession, nowMs: number): void {
  const problem = lineageProblem(live, nowMs);
  if (problem === undefined) return;
  const how = problem === "LEASE_REVOKED" ? "was revoked" : "is not valid at this time";
  throw new KernelError(problem, `the session's lease, or one that it came from, ${how}`);
}

/** The session and all its descendants in memory, the session itself first. */
export function loadedTree(live: LiveSession): LiveSession[] {
  return [live, ...live.children.values().flatMap(loadedTree)];
}

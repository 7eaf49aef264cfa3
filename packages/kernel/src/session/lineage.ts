import { KernelError } from "@narthex/contracts";
import { leaseProblem } from "../lease/check-lease.ts";
import type { LiveSession } from "./live-session.ts";

/** How many leases a session's own was split off, one off the other. */
export function delegationDepth(live: LiveSession): number {
  let depth = 0;
  for (let above = live.parent; above !== undefined; above = above.parent) depth++;
  return depth;
}

/** The session that the whole tree was split off. */
export function rootSession(live: LiveSession): LiveSession {
  let root = live;
  while (root.parent !== undefined) root = root.parent;
  return root;
}

/**
 * Why a session's lease gives nothing at a moment: by itself, or because of one that it came from.
 *
 * SECURITY: asked of every lease up to the root each time, so that revoking one takes effect below it at once, also
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

/** Throws unless the session's lease, and each that it came from, is valid. */
export function requireLease(live: LiveSession, nowMs: number): void {
  const problem = lineageProblem(live, nowMs);
  if (problem === undefined) return;
  const how = problem === "LEASE_REVOKED" ? "was revoked" : "is not valid at this time";
  throw new KernelError(problem, `the session's lease, or one that it came from, ${how}`);
}

/** Those in memory that were split off a session, at any depth, and the session itself first. */
export function loadedTree(live: LiveSession): LiveSession[] {
  return [live, ...live.children.values().flatMap(loadedTree)];
}

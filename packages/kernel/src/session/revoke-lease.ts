import type { KernelParts } from "../kernel-parts.ts";
import type { Revocation, RevokedLeases } from "../lease/delegation.ts";
import { describeFault } from "../result/describe-fault.ts";
import { findHolder } from "./find-lease.ts";
import { loadedTree } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";
import { leaseRow } from "./session-rows.ts";

/**
 * Revokes a lease and every lease below it. New calls under them are denied, running ones are cancelled. Resolves when
 * that is durable and their jobs have ended. Throws LEASE_NOT_FOUND.
 */
export async function revokeLease(revocation: Revocation, kernel: KernelParts): Promise<RevokedLeases> {
  const top = await findHolder(revocation.leaseId, kernel);
  const leaseIds: string[] = [];
  // Everything in memory is stopped before anything is awaited.
  let cancelledCalls = loadedTree(top).reduce((count, live) => count + stop(live), 0);

  /**
   * Writes parents before children: once the first record is durable, no lease below is valid, whatever is written
   * later.
   */
  async function write(live: LiveSession): Promise<void> {
    cancelledCalls += stop(live);
    leaseIds.push(live.lease.id);
    await writeOnce(live, revocation, kernel);
    await endJobs(live, kernel);
    const below = live.delegatedBudgets.values().filter((carving) => !carving.hasSessionEnded);
    const children = await Promise.all(below.map(({ sessionId }) => kernel.sessions.find(sessionId)));
    await Promise.all(children.filter((child) => child !== undefined).map(write));
  }

  await write(top);
  return { leaseIds, cancelledCalls };
}

/** Sessions whose lease is revoked in memory, but whose record is not written yet. */
const unwritten = new WeakSet<LiveSession>();
const writing = new WeakMap<LiveSession, Promise<void>>();

/** Revokes the session's own lease in memory and cancels its running calls. Returns their number. */
function stop(live: LiveSession): number {
  if (!live.lease.revoked) {
    live.lease = { ...live.lease, revoked: true };
    unwritten.add(live);
  }
  const running = live.running.list().filter((call) => call.cancelled === undefined);
  for (const call of running) call.cancel("revoked");
  return running.length;
}

/** Writes the revocation once; concurrent revocations of the same lease wait for the same record. */
async function writeOnce(live: LiveSession, revocation: Revocation, kernel: KernelParts): Promise<void> {
  if (unwritten.delete(live)) writing.set(live, append(live, revocation, kernel));
  await writing.get(live);
}

const MAX_TEXT = 500;

async function append(live: LiveSession, { reason, by }: Revocation, kernel: KernelParts): Promise<void> {
  const { lease } = live;
  const value = { leaseId: lease.id, reason: cut(reason), by: cut(by) };
  live.enter();
  try {
    // Withdraws open approval requests for calls that will not be made.
    const approvals = await kernel.approvals.endSession(live.id);
    const entries = [{ case: "leaseRevoked", value }] as const;
    await kernel.ledger.append({ chain: live.id, entries, state: [leaseRow(lease), ...approvals] });
    kernel.leaseEndListeners.notify(live.id);
  } finally {
    live.leave();
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}

/** Ends background jobs, which would otherwise continue under a revoked lease. */
async function endJobs(live: LiveSession, kernel: KernelParts): Promise<void> {
  await kernel.shells?.endSession(live.id).catch((fault: unknown) => {
    kernel.logger("warn", "jobs could not be ended", { session: live.id, cause: describeFault(fault) });
  });
}

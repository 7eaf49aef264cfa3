import type { KernelParts } from "../kernel-parts.ts";
import type { Revocation, RevokedLeases } from "../lease/delegation.ts";
import { describeFault } from "../result/describe-fault.ts";
import { findHolder } from "./find-lease.ts";
import { loadedTree } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";
import { leaseRow } from "./session-rows.ts";

/**
 * Revokes a lease and every lease below it: from now on no call is taken under any of them, and those that run are
 * cancelled. Resolves when that is durable and their jobs are gone. Throws LEASE_NOT_FOUND.
 */
export async function revokeLease(revocation: Revocation, kernel: KernelParts): Promise<RevokedLeases> {
  const top = await findHolder(revocation.leaseId, kernel);
  const leaseIds: string[] = [];
  // All that could act is stopped before anything is waited for.
  let cancelledCalls = loadedTree(top).reduce((count, live) => count + stop(live), 0);

  /** Above before below: once the first record is durable nothing below gives anything, whatever is written later. */
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

/** Leases that were revoked in memory and are not written yet. */
const unwritten = new WeakSet<LiveSession>();
const writing = new WeakMap<LiveSession, Promise<void>>();

/** Takes no more calls under the session's own lease, and cancels those that run. */
function stop(live: LiveSession): number {
  if (!live.lease.revoked) {
    live.lease = { ...live.lease, revoked: true };
    unwritten.add(live);
  }
  const running = live.running.list().filter((call) => call.cancelled === undefined);
  for (const call of running) call.cancel("revoked");
  return running.length;
}

/** Whoever revokes the same lease meanwhile waits for the same record. */
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
    // Nobody is asked any longer about calls that will not be made.
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

/** What a session left running in the background would go on under a lease that is no more. */
async function endJobs(live: LiveSession, kernel: KernelParts): Promise<void> {
  await kernel.shells?.endSession(live.id).catch((fault: unknown) => {
    kernel.logger("warn", "jobs could not be ended", { session: live.id, cause: describeFault(fault) });
  });
}

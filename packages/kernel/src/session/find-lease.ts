import { KernelError, parseJson } from "@narthex/contracts";
import type { LeaseFacts } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { leaseFromJson } from "../lease/lease-to-json.ts";
import { lineageProblem } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";

const LEASE_ID = /^lea_[a-z2-7]{20}$/;

/** Finds the session that holds a lease. Throws LEASE_NOT_FOUND. */
export async function findHolder(leaseId: string, kernel: KernelParts): Promise<LiveSession> {
  const live = await lookUpHolder(leaseId, kernel);
  if (live !== undefined) return live;
  throw new KernelError("LEASE_NOT_FOUND", `there is no lease \`${leaseId.slice(0, 80)}\``);
}

export async function lookUpHolder(leaseId: string, kernel: KernelParts): Promise<LiveSession | undefined> {
  // The id is checked first, because the table also contains rows that are not leases.
  const row = LEASE_ID.test(leaseId) ? await kernel.store.getState("leases", leaseId) : undefined;
  const live = row && (await kernel.sessions.find(leaseFromJson(parseJson(row)).holder));
  return live?.lease.id === leaseId ? live : undefined;
}

/** A lease at a moment, as shown to administrators. */
export function describeLease(live: LiveSession, nowMs: number): LeaseFacts {
  const below = live.delegatedBudgets.values().filter((carving) => !carving.hasSessionEnded);
  return {
    lease: live.lease,
    state: stateOf(live, nowMs),
    budgetRemaining: live.account.remaining(),
    childLeaseIds: below.map(({ leaseId }) => leaseId),
  };
}

function stateOf(live: LiveSession, nowMs: number): LeaseFacts["state"] {
  const problem = lineageProblem(live, nowMs);
  if (problem === "LEASE_REVOKED") return "revoked";
  const { state } = live.session;
  if (state === "closed" || state === "expired") return "expired";
  if (problem === undefined) return "active";
  return nowMs < live.lease.notBeforeMs ? "not_yet" : "expired";
}

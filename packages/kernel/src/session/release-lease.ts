import { KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetLimits } from "../budget/budget.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { LeaseRelease, ReleasedLease } from "../lease/delegation.ts";
import { endSession } from "./close-session.ts";
import { findDelegatingSession } from "./find-delegating-session.ts";
import { lookUpHolder } from "./find-lease.ts";
import type { LiveSession } from "./live-session.ts";
import { requireUsable } from "./require-open.ts";

/**
 * Ends a delegated lease: its session is closed after all its descendants, and its unspent budget is returned. Resolves
 * when that is durable.
 *
 * SECURITY: the error is the same for a lease outside the caller's tree, one that has ended and an unknown one, so ids
 * cannot be probed.
 */
export async function releaseLease(release: LeaseRelease, kernel: KernelParts): Promise<ReleasedLease> {
  const { leaseId } = release;
  const caller = requireUsable(await findDelegatingSession(release, kernel), kernel.ledger.nowMs());
  if (caller.lease.id === leaseId) throw refusedOwn();
  const holder = await lookUpHolder(leaseId, kernel);
  if (holder?.parent === undefined || !isBelow(holder, caller)) throw notFound(leaseId);
  const returned = await endSession(holder, "closed", kernel);
  if (returned === undefined) throw notFound(leaseId);
  return { budgetReturned: ofLimited(holder.parent.lease.budgets, returned) };
}

function isBelow(live: LiveSession, ancestor: LiveSession): boolean {
  for (let above = live.parent; above !== undefined; above = above.parent) if (above.id === ancestor.id) return true;
  return false;
}

function ofLimited(limits: BudgetLimits, amounts: BudgetAmounts): BudgetAmounts {
  const limited = BUDGET_DIMENSIONS.filter((dimension) => limits[dimension] !== undefined);
  return Object.fromEntries(limited.map((dimension) => [dimension, amounts[dimension] ?? 0]));
}

function notFound(leaseId: string): KernelError {
  const message = `no lease \`${leaseId.slice(0, 80)}\` that was split off this session's is still held`;
  return new KernelError("LEASE_NOT_FOUND", message);
}

function refusedOwn(): KernelError {
  const message = "is the session's own: whoever opened the session closes it";
  const violations = [{ field: "lease_id", rule: "exclusive", message }];
  return new KernelError("INVALID_INPUT", `the lease ${message}`, { violations });
}

import { amountList } from "../budget/amount-list.ts";
import type { BudgetAmounts } from "../budget/budget.ts";
import { addAmounts, limitedAmounts, isNothing, subtractAmounts } from "../budget/combine-amounts.ts";
import { type DelegatedBudget, delegatedBudgetRow, removedDelegatedBudgetRow } from "../lease/delegated-budget.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { rootSession } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";

/** What becomes durable with a record when a part of a parent's budget is free again. */
export interface BudgetRelease {
  readonly entries: readonly EntryDraft[];
  /** As it is when the record is made. */
  state(): readonly StateChange[];
  /** What is free again. */
  readonly returned: BudgetAmounts;
}

const NOTHING: BudgetRelease = { entries: [], state: () => [], returned: {} };

/**
 * A session has ended, and nothing of it runs any more: what it spent is spent of its parent's budget, the rest is its
 * parent's again. What calls with an unknown outcome had reserved, its own and of sessions below that ended before,
 * stays set aside until they are settled.
 */
export function releaseBudget(live: LiveSession): BudgetRelease {
  const { parent, lease } = live;
  const ended = [...live.delegatedBudgets.values()];
  const forgotten = ended.map(({ leaseId }) => removedDelegatedBudgetRow(lease.id, leaseId));
  if (parent === undefined) return { entries: [], state: () => forgotten, returned: {} };
  const carving = parent.delegatedBudgets.get(lease.id);
  if (carving === undefined) return NOTHING;
  rootSession(parent).descendantCount--;
  const spent = live.account.spent();
  // What an upload has set aside that ends after this is nobody's: only what has an intent can be settled later.
  const own = [...live.reservedByUnsettled.values()].reduce<BudgetAmounts>(
    (sum, { amounts }) => addAmounts(sum, amounts),
    {},
  );
  const all = ended.reduce((sum, { reservation }) => addAmounts(sum, reservation.amounts), own);
  const unsettled = limitedAmounts(parent.lease.budgets, all);
  const returned = subtractAmounts(subtractAmounts(carving.reservation.amounts, spent), unsettled);
  parent.account.settle(carving.reservation, spent);
  reserveFor(carving, own, parent);
  for (const below of ended) reserveFor(below, below.reservation.amounts, parent);
  return {
    entries: [releasedEntry(live, returned)],
    state: () => [
      ...forgotten,
      ...[carving, ...ended].map(({ leaseId }) => reservedRow(parent, leaseId)),
      parent.usageRow(),
    ],
    returned,
  };
}

/** The outcome of a call is known whose session had ended before: what was kept for it is spent, or free. */
export function settleReserved(live: LiveSession, reserved: BudgetAmounts, spent: BudgetAmounts): BudgetRelease {
  const holder = holderOf(live);
  const carving = holder?.delegatedBudgets.get(live.lease.id);
  if (holder === undefined || carving === undefined || !carving.hasSessionEnded) return NOTHING;
  const rest = subtractAmounts(carving.reservation.amounts, reserved);
  const freed = subtractAmounts(carving.reservation.amounts, rest);
  const returned = subtractAmounts(freed, spent);
  holder.account.settle(carving.reservation, spent);
  reserveFor(carving, rest, holder);
  return {
    entries: [releasedEntry(live, returned)],
    state: () => [reservedRow(holder, live.lease.id), holder.usageRow()],
    returned,
  };
}

/** The nearest session above that still keeps something for this one. */
function holderOf(live: LiveSession): LiveSession | undefined {
  let holder = live.parent;
  while (holder !== undefined && !holder.delegatedBudgets.has(live.lease.id)) holder = holder.parent;
  return holder;
}

/** Sets aside what calls of a session that has ended may have spent; nothing, if there are none. */
function reserveFor(carving: DelegatedBudget, amounts: BudgetAmounts, holder: LiveSession): void {
  const limited = limitedAmounts(holder.lease.budgets, amounts);
  if (isNothing(limited)) holder.delegatedBudgets.delete(carving.leaseId);
  else {
    holder.delegatedBudgets.set(carving.leaseId, {
      ...carving,
      hasSessionEnded: true,
      reservation: holder.account.restore(limited),
    });
  }
}

function reservedRow(holder: LiveSession, leaseId: string): StateChange {
  const kept = holder.delegatedBudgets.get(leaseId);
  return kept === undefined
    ? removedDelegatedBudgetRow(holder.lease.id, leaseId)
    : delegatedBudgetRow(holder.lease.id, kept);
}

function releasedEntry({ lease }: LiveSession, returned: BudgetAmounts): EntryDraft {
  const value = { leaseId: lease.id, parentLeaseId: lease.parentId ?? "", returned: amountList(returned) };
  return { case: "leaseReleased", value };
}

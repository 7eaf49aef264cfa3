import { amountList } from "../budget/amount-list.ts";
import type { BudgetAmounts } from "../budget/budget.ts";
import { addAmounts, limitedAmounts, isNothing, subtractAmounts } from "../budget/combine-amounts.ts";
import { type DelegatedBudget, delegatedBudgetRow, removedDelegatedBudgetRow } from "../lease/delegated-budget.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { rootSession } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";

/** The entries and rows to write when a part of a parent's budget is released. */
export interface BudgetRelease {
  readonly entries: readonly EntryDraft[];
  /** Call when the record is made: returns the rows for the state at that time. */
  state(): readonly StateChange[];
  /** The amounts released. */
  readonly returned: BudgetAmounts;
}

const NOTHING: BudgetRelease = { entries: [], state: () => [], returned: {} };

/**
 * Settles the budget of an ended session that has no work in progress: its spending is charged to its parent's budget,
 * the rest is returned. Amounts reserved by calls with an unknown outcome, its own and those of descendants that ended
 * before, stay reserved until they are settled.
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
  // An upload that ends after this has no owner for its reservation: only calls with an intent can be settled later.
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

/** Settles a call of a session that had already ended: the amounts kept for it are spent or released. */
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

/** The nearest ancestor that still holds a reservation for this session. */
function holderOf(live: LiveSession): LiveSession | undefined {
  let holder = live.parent;
  while (holder !== undefined && !holder.delegatedBudgets.has(live.lease.id)) holder = holder.parent;
  return holder;
}

/**
 * Replaces the reservation with the amounts that calls of an ended session may have spent; removes it if there are
 * none.
 */
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

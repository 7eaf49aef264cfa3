import { amountList } from "../budget/amount-list.ts";
import type { BudgetAmounts } from "../budget/budget.ts";
import { addAmounts, amountsUnder, isNothing, subtractAmounts } from "../budget/combine-amounts.ts";
import { type Carving, carvingRow, releasedCarvingRow } from "../lease/carving.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { rootOf } from "./lineage.ts";
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
  const ended = [...live.carvings.values()];
  const forgotten = ended.map(({ leaseId }) => releasedCarvingRow(lease.id, leaseId));
  if (parent === undefined) return { entries: [], state: () => forgotten, returned: {} };
  const carving = parent.carvings.get(lease.id);
  if (carving === undefined) return NOTHING;
  rootOf(parent).descendants--;
  const spent = live.account.spent();
  // What an upload has set aside that ends after this is nobody's: only what has an intent can be settled later.
  const own = [...live.reservedByUnsettled.values()].reduce<BudgetAmounts>(
    (sum, { amounts }) => addAmounts(sum, amounts),
    {},
  );
  const all = ended.reduce((sum, { reservation }) => addAmounts(sum, reservation.amounts), own);
  const unsettled = amountsUnder(parent.lease.budgets, all);
  const returned = subtractAmounts(subtractAmounts(carving.reservation.amounts, spent), unsettled);
  parent.account.settle(carving.reservation, spent);
  keepFor(carving, own, parent);
  for (const below of ended) keepFor(below, below.reservation.amounts, parent);
  return {
    entries: [releasedEntry(live, returned)],
    state: () => [
      ...forgotten,
      ...[carving, ...ended].map(({ leaseId }) => keptRow(parent, leaseId)),
      parent.usageRow(),
    ],
    returned,
  };
}

/** The outcome of a call is known whose session had ended before: what was kept for it is spent, or free. */
export function settleKept(live: LiveSession, reserved: BudgetAmounts, spent: BudgetAmounts): BudgetRelease {
  const holder = holderOf(live);
  const carving = holder?.carvings.get(live.lease.id);
  if (holder === undefined || carving === undefined || !carving.ended) return NOTHING;
  const rest = subtractAmounts(carving.reservation.amounts, reserved);
  const freed = subtractAmounts(carving.reservation.amounts, rest);
  const returned = subtractAmounts(freed, spent);
  holder.account.settle(carving.reservation, spent);
  keepFor(carving, rest, holder);
  return {
    entries: [releasedEntry(live, returned)],
    state: () => [keptRow(holder, live.lease.id), holder.usageRow()],
    returned,
  };
}

/** The nearest session above that still keeps something for this one. */
function holderOf(live: LiveSession): LiveSession | undefined {
  let holder = live.parent;
  while (holder !== undefined && !holder.carvings.has(live.lease.id)) holder = holder.parent;
  return holder;
}

/** Sets aside what calls of a session that has ended may have spent; nothing, if there are none. */
function keepFor(carving: Carving, amounts: BudgetAmounts, holder: LiveSession): void {
  const limited = amountsUnder(holder.lease.budgets, amounts);
  if (isNothing(limited)) holder.carvings.delete(carving.leaseId);
  else {
    holder.carvings.set(carving.leaseId, { ...carving, ended: true, reservation: holder.account.restore(limited) });
  }
}

function keptRow(holder: LiveSession, leaseId: string): StateChange {
  const kept = holder.carvings.get(leaseId);
  return kept === undefined ? releasedCarvingRow(holder.lease.id, leaseId) : carvingRow(holder.lease.id, kept);
}

function releasedEntry({ lease }: LiveSession, returned: BudgetAmounts): EntryDraft {
  const value = { leaseId: lease.id, parentLeaseId: lease.parentId ?? "", returned: amountList(returned) };
  return { case: "leaseReleased", value };
}

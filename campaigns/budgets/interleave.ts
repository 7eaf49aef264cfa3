import assert from "node:assert/strict";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetLimits } from "@narthex/kernel";
import { createBudgetAccount, isShortfall, type Reservation } from "../../packages/kernel/src/budget/budget-account.ts";
import type { Chance } from "../chance/chance.ts";
import { BudgetModel } from "./budget-model.ts";

/** Sums of so many such amounts stay exact. */
const LARGE = 2 ** 40;

/**
 * One account and random steps of calls that overlap: reserve, settle with less or more than was reserved, restore,
 * and what must fail. Throws where account and model differ; gives how many steps there were.
 */
export function interleave(chance: Chance): number {
  const limits: BudgetLimits = anyAmounts(chance, 30);
  const spent = chance.oneIn(3) ? anyAmounts(chance, 10) : {};
  const account = createBudgetAccount({ limits, spent });
  const model = new BudgetModel(limits, spent);
  const open: Reservation[] = [];
  const ended: Reservation[] = [];
  const honest = chance.oneIn(2);
  const isFair = (): boolean =>
    honest && BUDGET_DIMENSIONS.every((one) => (spent[one] ?? 0) <= (limits[one] ?? Infinity));

  const steps = 10 + chance.below(50);
  for (let step = 0; step < steps; step++) {
    switch (chance.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const [amounts, upTo] = [anyAmounts(chance, 6), chance.oneIn(2) ? anyAmounts(chance, 9) : {}];
        const short = account.shortfall(amounts, upTo);
        const answer = account.reserve(amounts, upTo);
        const expected = model.reserve(amounts, upTo);
        if (isShortfall(answer)) {
          assert.equal(answer.dimension, short?.dimension, "asked first, it said something else");
          assert.equal(answer.dimension, expected, "short of another dimension");
        } else {
          assert.equal(short, undefined, "asked first, it said something else");
          assert.ok(typeof expected === "object", "the model is short of something");
          assertSame(answer.amounts, expected, "set aside");
          open.push(answer);
        }
        break;
      }
      case 5:
      case 6:
      case 7:
      case 8:
      case 9: {
        const [reservation] = open.splice(chance.below(Math.max(open.length, 1)), 1);
        if (reservation === undefined) break;
        const actual = actualOf(chance, reservation.amounts, honest);
        account.settle(reservation, actual);
        model.settle(reservation.amounts, actual);
        ended.push(reservation);
        break;
      }
      case 10: {
        if (honest) break;
        const amounts = anyAmounts(chance, 4);
        open.push(account.restore(amounts));
        model.restore(amounts);
        break;
      }
      default:
        for (const forged of [{ amounts: { calls: 1 } }, ...ended.slice(-1)]) {
          assert.throws(
            () => account.settle(forged, {}),
            { code: "INTERNAL" },
            "a reservation was settled that is none",
          );
        }
        if (chance.oneIn(4))
          assert.throws(() => account.reserve({ calls: chance.pick([-1, 0.5, Number.NaN, 2 ** 53]) }), {
            code: "INTERNAL",
          });
    }
    compare(account, model);
    if (isFair()) for (const one of BUDGET_DIMENSIONS) assert.ok(!model.overdrawn(one), `${one} is overspent`);
  }
  for (const reservation of open) {
    account.settle(reservation, {});
    model.settle(reservation.amounts, {});
  }
  compare(account, model);
  assert.deepEqual(account.reserved(), {}, "something is still set aside when every call has ended");
  return steps;
}

function compare(account: ReturnType<typeof createBudgetAccount>, model: BudgetModel): void {
  assertSame(account.spent(), model.spent(), "spent");
  assertSame(account.reserved(), model.reserved(), "reserved");
  assertSame(account.remaining(), model.remaining(), "remaining");
}

/** Much faster than `deepEqual`, which is most of the work otherwise. */
function assertSame(found: BudgetAmounts, expected: BudgetAmounts, what: string): void {
  if (BUDGET_DIMENSIONS.every((dimension) => found[dimension] === expected[dimension])) return;
  assert.fail(`${what}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`);
}

function anyAmounts(chance: Chance, most: number): BudgetAmounts {
  const amounts = BUDGET_DIMENSIONS.filter(() => chance.oneIn(3)).map((dimension) => {
    return [dimension, chance.oneIn(10) ? chance.below(LARGE) : chance.below(most)] as const;
  });
  return Object.fromEntries(amounts);
}

/** Of what was reserved; with a tool that is not honest, sometimes more, or of something else. */
function actualOf(chance: Chance, reserved: BudgetAmounts, honest: boolean): BudgetAmounts {
  if (!honest && chance.oneIn(4)) return anyAmounts(chance, 12);
  return Object.fromEntries(
    Object.entries(reserved).map(([dimension, amount]) => [dimension, chance.below(amount + 1)]),
  );
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import * as fc from "fast-check";
import type { BudgetAmounts } from "./budget.ts";
import { createBudgetAccount, isShortfall, type Reservation } from "./budget-account.ts";
import { budgetToJson, parseBudgetLimits } from "./parse-budget-limits.ts";

function reserved(answer: ReturnType<ReturnType<typeof createBudgetAccount>["reserve"]>): Reservation {
  assert.ok(!isShortfall(answer), JSON.stringify(answer));
  return answer;
}

describe("reserving", () => {
  test("names the exhausted dimension, and reserves nothing in the others", () => {
    const account = createBudgetAccount({ limits: { calls: 5, stored_bytes: 10 }, spent: { stored_bytes: 4 } });
    assert.deepEqual(account.reserve({ calls: 1, stored_bytes: 7 }), {
      dimension: "stored_bytes",
      asked: 7,
      remaining: 6,
    });
    assert.deepEqual(account.remaining(), { calls: 5, stored_bytes: 6 });
    assert.deepEqual(account.reserved(), {});
  });

  test("concurrent calls cannot overspend together", () => {
    const account = createBudgetAccount({ limits: { calls: 2 }, spent: {} });
    reserved(account.reserve({ calls: 1 }));
    reserved(account.reserve({ calls: 1 }));
    assert.deepEqual(account.reserve({ calls: 1 }), { dimension: "calls", asked: 1, remaining: 0 });
  });

  test("zero allows nothing, an absent limit is unlimited", () => {
    const account = createBudgetAccount({ limits: { calls: 0 }, spent: {} });
    assert.ok(isShortfall(account.reserve({ calls: 1 })));
    reserved(account.reserve({ calls: 0, cost_units: Number.MAX_SAFE_INTEGER }));
    assert.deepEqual(account.remaining(), { calls: 0 });
  });

  test("reserves at most the remainder up to a bound, and fails if nothing remains", () => {
    const account = createBudgetAccount({ limits: { wall_ms: 100 }, spent: { wall_ms: 70 } });
    const reservation = reserved(account.reserve({ calls: 1 }, { wall_ms: 1000, cpu_ms: 5 }));
    assert.deepEqual(reservation.amounts, { calls: 1, wall_ms: 30, cpu_ms: 5 });
    assert.deepEqual(account.reserve({}, { wall_ms: 1 }), { dimension: "wall_ms", asked: 1, remaining: 0 });
  });

  test("rejects an amount that is not a whole number, and changes nothing", () => {
    const account = createBudgetAccount({ limits: { calls: 5 }, spent: {} });
    for (const calls of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => account.reserve({ calls }), { code: "INTERNAL" });
      assert.throws(() => account.reserve({}, { calls }), { code: "INTERNAL" });
      assert.throws(() => createBudgetAccount({ limits: { calls }, spent: {} }), { code: "INTERNAL" });
      assert.throws(() => createBudgetAccount({ limits: {}, spent: { calls } }), { code: "INTERNAL" });
      const reservation = reserved(account.reserve({ calls: 1 }));
      assert.throws(() => account.settle(reservation, { calls }), { code: "INTERNAL" });
      account.settle(reservation, {});
    }
    assert.deepEqual(account.remaining(), { calls: 5 });
  });
});

describe("settling", () => {
  test("rejects settling twice, by another account, or with a forged reservation", () => {
    const account = createBudgetAccount({ limits: { calls: 5 }, spent: {} });
    const other = createBudgetAccount({ limits: { calls: 5 }, spent: {} });
    const reservation = reserved(account.reserve({ calls: 3 }));
    assert.throws(() => other.settle(reservation, {}), { code: "INTERNAL" });
    assert.throws(() => account.settle({ amounts: { calls: 3 } }, {}), { code: "INTERNAL" });
    account.settle(reservation, { calls: 1 });
    assert.throws(() => account.settle(reservation, { calls: 1 }), { code: "INTERNAL" });
    assert.deepEqual(account.spent(), { calls: 1 });
    assert.deepEqual(account.remaining(), { calls: 4 });
  });

  test("the holder of a reservation cannot make it smaller", () => {
    const account = createBudgetAccount({ limits: { calls: 5 }, spent: {} });
    const reservation = reserved(account.reserve({ calls: 3 }));
    assert.throws(() => Object.assign(reservation.amounts, { calls: 0 }), TypeError);
  });

  test("spending more than was reserved is charged in full and leaves nothing", () => {
    const account = createBudgetAccount({ limits: { stored_bytes: 10 }, spent: {} });
    account.settle(reserved(account.reserve({ stored_bytes: 10 })), { stored_bytes: 25, calls: 1 });
    assert.deepEqual(account.spent(), { calls: 1, stored_bytes: 25 });
    assert.deepEqual(account.remaining(), { stored_bytes: 0 });
    assert.ok(isShortfall(account.reserve({ stored_bytes: 1 })));
  });

  test("an intent from before a restart counts until it is settled", () => {
    const account = createBudgetAccount({ limits: { calls: 2 }, spent: { calls: 1 } });
    const intent = account.restore({ calls: 2 });
    assert.ok(isShortfall(account.reserve({ calls: 1 })));
    account.settle(intent, {});
    assert.deepEqual(account.remaining(), { calls: 1 });
  });

  test("sums without a limit stay exact", () => {
    const account = createBudgetAccount({ limits: {}, spent: { calls: Number.MAX_SAFE_INTEGER } });
    const most = { calls: Number.MAX_SAFE_INTEGER };
    const first = reserved(account.reserve(most));
    const second = reserved(account.reserve(most));
    account.settle(first, most);
    account.settle(second, most);
    assert.deepEqual(account.reserved(), {});
    assert.deepEqual(account.spent(), most);
  });
});

test("no interleaving overspends, and everything unused is released", () => {
  const amounts = fc.record({ calls: fc.nat(3), stored_bytes: fc.nat(50), wall_ms: fc.nat(20) }, { requiredKeys: [] });
  const step = fc.oneof(
    fc.record({ act: fc.constant("reserve" as const), amounts: amounts, upTo: amounts }),
    fc.record({
      act: fc.constant("settle" as const),
      which: fc.nat(),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );
  const limits = fc.record({ calls: fc.nat(10), stored_bytes: fc.nat(100) }, { requiredKeys: [] });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 60 }), (limit, steps) => {
      const account = createBudgetAccount({ limits: limit, spent: {} });
      const open: Reservation[] = [];
      const used = { calls: 0, stored_bytes: 0, wall_ms: 0 };
      for (const action of steps) {
        if (action.act === "reserve") {
          const expected = account.shortfall(action.amounts, action.upTo);
          const answer = account.reserve(action.amounts, action.upTo);
          assert.deepEqual(isShortfall(answer) ? answer : undefined, expected);
          if (!isShortfall(answer)) open.push(answer);
        } else {
          const [reservation] = open.splice(action.which % Math.max(open.length, 1), 1);
          if (reservation === undefined) continue;
          const actual = shareOf(reservation.amounts, action.share);
          for (const dimension of ["calls", "stored_bytes", "wall_ms"] as const)
            used[dimension] += actual[dimension] ?? 0;
          account.settle(reservation, actual);
        }
        for (const dimension of ["calls", "stored_bytes"] as const) {
          const taken = (account.spent()[dimension] ?? 0) + (account.reserved()[dimension] ?? 0);
          assert.ok(taken <= (limit[dimension] ?? Number.POSITIVE_INFINITY));
          if (limit[dimension] !== undefined) assert.equal(account.remaining()[dimension], limit[dimension] - taken);
        }
      }
      for (const reservation of open) account.settle(reservation, {});
      assert.deepEqual(account.reserved(), {});
      for (const dimension of ["calls", "stored_bytes", "wall_ms"] as const) {
        assert.equal(account.spent()[dimension] ?? 0, used[dimension]);
      }
    }),
    { numRuns: 500 },
  );
});

function shareOf(amounts: BudgetAmounts, share: number): BudgetAmounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([dimension, amount]) => [dimension, Math.floor(amount * share)]),
  );
}

describe("limits from configuration", () => {
  const problemsOf = (json: JsonValue): string[] => {
    try {
      parseBudgetLimits(json);
    } catch (error) {
      assert.ok(isKernelError(error));
      assert.equal(error.code, "LEASE_INVALID");
      return error.violations.map(({ field, rule, message }) => `${field} ${rule}: ${message}`);
    }
    return [];
  };

  test("are rejected by name unless whole, non-negative and exact", () => {
    const problems = problemsOf({ calls: -1, cost_units: 0.5, wall_ms: 2 ** 53, cpu_ms: "5", network_bytes: null });
    assert.deepEqual(
      problems.map((problem) => problem.split(":")[0]),
      [
        "budgets.calls range",
        "budgets.cost_units range",
        "budgets.wall_ms range",
        "budgets.cpu_ms format",
        "budgets.network_bytes format",
      ],
    );
    assert.equal(problemsOf({ calls: Number.NaN }).length, 1);
    assert.equal(problemsOf([]).length, 1);
    assert.deepEqual(problemsOf({ stored_byte: 1 }), [
      "budgets.stored_byte unknown_field: is not known; did you mean stored_bytes?",
    ]);
  });

  test("keep zero, keep absent limits absent, and survive the JSON form", () => {
    assert.deepEqual(parseBudgetLimits({ calls: 0, wall_ms: -0 }), { calls: 0, wall_ms: 0 });
    assert.deepEqual(parseBudgetLimits({}), {});
    const limits = { calls: Number.MAX_SAFE_INTEGER, stored_bytes: 1 };
    assert.deepEqual(parseBudgetLimits(budgetToJson(limits)), limits);
  });
});

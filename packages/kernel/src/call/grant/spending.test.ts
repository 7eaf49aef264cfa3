import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonValue, KernelError } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import * as fc from "fast-check";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Spending, SpendingAccess, Tool, ToolContext } from "../../tool/tool.ts";
import { errorOf } from "../invoke/testing/hostile-tool.ts";

const PRICE = 2;
const LIMITS = { inference_tokens: 1000, cost_units: 1000 };

/** Sets `reserves` aside and does with its spending what it is told. */
function spender(run: (context: ToolContext) => unknown, reserves?: (input: JsonValue) => Spending): Tool {
  return defineTool({
    name: "spender",
    description: "Spends.",
    inputSchema: true,
    tier: "side_effecting",
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    price: PRICE,
    ...(reserves && { reserves }),
    async run(_, context) {
      await run(context);
      return 0;
    },
  });
}

const spending = (run: (access: SpendingAccess) => void): ((context: ToolContext) => void) => {
  return (context) => run(context.spending);
};

async function open(tool: Tool, budgets: object = LIMITS) {
  const at = await createTestKernel({ tools: [tool] });
  return { at, session: await at.open({ lease: { budgets } }) };
}

async function left({ kernel }: TestKernel, { id }: TestSession): Promise<(number | undefined)[]> {
  const remaining = (await kernel.getSession(id))?.budgetRemaining;
  return [remaining?.inference_tokens, remaining?.cost_units];
}

/** Amounts of one dimension in the entries of a session: what was set aside, and what was spent. */
async function amounts(at: TestKernel, { id }: TestSession, list: "reserved" | "spent"): Promise<number[][]> {
  const kinds = (await at.records(id)).flatMap(({ entries }) => entries.map(({ kind }) => kind));
  return kinds.flatMap(({ value }) => {
    if (value === undefined || !(list in value)) return [];
    const found = (value as unknown as Record<string, readonly { dimension: string; amount: bigint }[]>)[list] ?? [];
    const of = (name: string): number => Number(found.find(({ dimension }) => dimension === name)?.amount ?? 0);
    return [[of("inference_tokens"), of("cost_units")]];
  });
}

describe("a call's spending besides its price", () => {
  it("is refused before the call runs if either dimension has too little left", async () => {
    let ran = 0;
    const run = (): void => void ran++;
    for (const [asked, dimension] of [
      [{ inference_tokens: 1001 }, "inference_tokens"],
      [{ cost_units: 999 }, "cost_units"],
    ] as const) {
      const { at, session } = await open(spender(run, () => asked));
      const { result } = (await session.call("spender", 1)).response;
      assert.ok(result.case === "denied" && result.value.rationaleCode === "BUDGET_EXCEEDED");
      assert.match(result.value.message, new RegExp(`the budget of ${dimension} has 1000 left`));
      assert.deepEqual(await left(at, session), [1000, 1000]);
    }
    const none = await open(
      spender(run, () => ({ inference_tokens: 1 })),
      { inference_tokens: 0 },
    );
    assert.equal((await none.session.call("spender", 1)).status, "denied");
    assert.equal(ran, 0);
  });

  it("is never a refund, whatever amounts a tool reports", async () => {
    for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "1", null]) {
      const wrong = { cost_units: amount } as Spending;
      for (const tool of [
        spender(
          () => undefined,
          () => wrong,
        ),
        spender(spending((access) => access.begin(wrong))),
        spender(spending((access) => access.settle(wrong))),
      ]) {
        const { at, session } = await open(tool);
        assert.equal(errorOf(await session.call("spender", 1)).errorCode, "INTERNAL", String(amount));
        const [, cost = 0] = await left(at, session);
        assert.ok(cost === 1000 || cost === 1000 - PRICE, String(amount));
      }
    }
  });

  it("cannot touch the kernel's own dimensions", async () => {
    const greedy = { calls: 500, stored_bytes: 5, cost_units: 1 } as Spending;
    const tool = spender(
      spending((access) => access.begin(greedy)),
      () => greedy,
    );
    const { at, session } = await open(tool, { calls: 10, stored_bytes: 100 });
    assert.equal((await session.call("spender", 1)).status, "success");
    assert.equal((await at.kernel.getSession(session.id))?.budgetRemaining.calls, 9);
  });

  it("is reserved with the intent and settled by the actual use, less or more", async () => {
    for (const used of [0, 3, 5000]) {
      const tool = spender(
        spending((access) => {
          access.begin();
          access.settle({ inference_tokens: 1 });
          access.settle({ inference_tokens: used, cost_units: used });
        }),
        () => ({ inference_tokens: 100, cost_units: 50 }),
      );
      const { at, session } = await open(tool);
      const { response } = await session.call("spender", 1);
      assert.ok(response.result.case === "success");
      assert.equal(Number(response.result.value.budgetConsumed), PRICE + used);
      assert.deepEqual(await amounts(at, session, "reserved"), [[100, 50 + PRICE]]);
      assert.deepEqual(await amounts(at, session, "spent"), [[used, used + PRICE]]);
      assert.deepEqual(await left(at, session), [Math.max(0, 1000 - used), Math.max(0, 1000 - used - PRICE)]);
      await verifyStore(at.store);
    }
  });

  it("is zero if the call ended before it began to spend", async () => {
    const tool = spender(
      () => Promise.reject(new Error("too early")),
      () => LIMITS_LESS_PRICE,
    );
    const { at, session } = await open(tool);
    await session.call("spender", 1);
    assert.deepEqual(await left(at, session), [1000, 1000 - PRICE]);
  });

  it("is the whole reservation if the call ended before it reported its use", async () => {
    const tool = spender(
      ({ spending: access }) => {
        access.begin({ inference_tokens: 7, cost_units: 9 });
        throw new KernelError("UPSTREAM_ERROR", "cut");
      },
      () => ({ inference_tokens: 100, cost_units: 50 }),
    );
    const { at, session } = await open(tool);
    await session.call("spender", 1);
    assert.deepEqual(await amounts(at, session, "spent"), [[107, 59 + PRICE]]);
    assert.deepEqual(await left(at, session), [893, 941 - PRICE]);
  });

  it("is refused during the call if more is needed than is left, and the ledger records it", async () => {
    const tool = spender(
      spending((access) => access.begin({ inference_tokens: 901 })),
      () => ({ inference_tokens: 100 }),
    );
    const { at, session } = await open(tool);
    const error = errorOf(await session.call("spender", 1));
    assert.equal(error.errorCode, "RESOURCE_EXCEEDED");
    assert.match(error.message, /needs 901 more of inference_tokens; the budget has 900 left/);
    assert.deepEqual(await left(at, session), [1000, 1000 - PRICE]);
    const kinds = (await at.records(session.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind));
    const exceeded = kinds.find((kind) => kind.case === "budgetExceeded");
    assert.ok(exceeded?.case === "budgetExceeded" && exceeded.value.dimension === "inference_tokens");
  });

  it("is closed with the call: later reports do not count", async () => {
    let kept: SpendingAccess | undefined;
    const { at, session } = await open(spender(({ spending: access }) => void (kept = access)));
    await session.call("spender", 1);
    assert.throws(() => kept?.begin({ cost_units: 5 }), { code: "CANCELLED" });
    assert.throws(() => kept?.settle({ cost_units: 5 }), { code: "CANCELLED" });
    assert.deepEqual(await left(at, session), [1000, 1000 - PRICE]);
  });

  it("counts as spent after a crash until a person settles the call as not happened", async () => {
    for (const answer of ["happened", "did_not_happen"] as const) {
      const store = createMemoryStore();
      const started = Promise.withResolvers<void>();
      const hanging = spender(
        ({ spending: access }) => {
          access.begin();
          started.resolve();
          return new Promise(() => undefined);
        },
        () => ({ inference_tokens: 100, cost_units: 50 }),
      );
      const before = await createTestKernel({ tools: [hanging], store });
      const session = await before.open({ lease: { budgets: LIMITS } });
      void session.call("spender", 1, { requestId: "lost" });
      await started.promise;
      const after = await createTestKernel({ tools: [hanging], store });
      assert.deepEqual(await left(after, session), [900, 950 - PRICE]);
      await after.kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer, by: "test" });
      const expected = answer === "happened" ? [900, 950 - PRICE] : [1000, 1000];
      assert.deepEqual(await left(after, session), expected);
    }
  });

  it("is never exceeded by concurrent calls, and leaves no reservation", async () => {
    const call = fc.record({
      reserved: fc.nat(400),
      more: fc.nat(400),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    type Call = { readonly reserved: number; readonly more: number; readonly share: number };
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        const tool: Tool = {
          ...spender(() => undefined),
          reserves: (input) => ({ inference_tokens: (input as Call).reserved }),
          async run(input, { spending: access }) {
            const { reserved, more, share } = input as Call;
            await Promise.resolve();
            access.begin({ inference_tokens: more });
            await new Promise((resolve) => setImmediate(resolve));
            access.settle({ inference_tokens: Math.floor((reserved + more) * share) });
            return 0;
          },
        };
        const { at, session } = await open(tool);
        await Promise.all(calls.map((input) => session.call("spender", input)));
        const spent = (await amounts(at, session, "spent")).reduce((sum, [tokens = 0]) => sum + tokens, 0);
        assert.ok(spent <= 1000);
        assert.equal((await left(at, session))[0], 1000 - spent);
      }),
      { numRuns: 30 },
    );
  });
});

const LIMITS_LESS_PRICE = { inference_tokens: 1000, cost_units: 1000 - PRICE };

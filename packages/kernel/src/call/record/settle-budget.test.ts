import assert from "node:assert/strict";
import { test } from "node:test";
import { create, encode, ToolRequestSchema } from "@narthex/contracts";
import { createMemoryContentStore, createMemoryStore, createTestKernel, type TestSession } from "@narthex/testkit";
import * as fc from "fast-check";
import { RUNS_ALL } from "../../../../../test/sampled.ts";
import type { Kernel } from "../../kernel.ts";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool, ToolContext } from "../../tool/tool.ts";

const LIMITS = { calls: 1000, cost_units: 1000, wall_ms: 10_000_000, stored_bytes: 3_000_000 };

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function makeTool(name: string, run: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool {
  const bounds = { timeoutMs: 15, maxOutputBytes: 100 };
  const tool = defineTool({
    name,
    description: "Does it.",
    inputSchema: true,
    tier: "read_only",
    price: 2,
    bounds,
    run: () => 0,
  });
  return { ...tool, ...extra, run: (_, context) => run(context) as string };
}

const STREAM = { resultType: "stream", normalise: "binary" } as const;
const EFFECT = {
  tier: "side_effecting",
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: ["*"] }],
} as const satisfies Partial<Tool>;

const TOOLS: readonly Tool[] = [
  makeTool("quick", () => "done"),
  makeTool("effect", async () => "done", EFFECT),
  makeTool("throws", () => Promise.reject(new Error("no"))),
  makeTool("hangs", () => new Promise(() => undefined)),
  makeTool("hangs_after_effect", () => new Promise(() => undefined), EFFECT),
  makeTool("large", () => "x".repeat(400_000)),
  makeTool("invalid", () => undefined),
  makeTool(
    "streams",
    async function* () {
      for (let i = 0; i < 10; i++) {
        yield Buffer.alloc(50_000);
        await turn();
      }
    },
    // It ends by itself: on a busy machine 15 ms are not enough for that.
    { ...STREAM, bounds: { timeoutMs: 60_000, maxOutputBytes: 100 } },
  ),
  makeTool(
    "streams_for_ever",
    async function* () {
      for (;;) {
        yield Buffer.alloc(9000);
        await turn();
      }
    },
    { ...STREAM, ...EFFECT },
  ),
];

const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      tool: fc.constantFrom(...TOOLS.map((tool) => tool.name), "unknown_tool"),
      id: fc.nat(8),
      keyed: fc.boolean(),
      input: fc.constantFrom(1, 2, "x".repeat(100_000)),
      abort: fc.constantFrom(undefined, 0, 1, 3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), id: fc.nat(8) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("put" as const), size: fc.nat(200_000), wrong: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const) }) },
);
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

test("no outcome of calls and puts leaves a reservation, and the ledger accounts for all spending", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 25 }), async (steps) => {
      const stores = { store: createMemoryStore(), contentStore: createMemoryContentStore() };
      const { open, kernel, records } = await createTestKernel({ tools: TOOLS, ...stores });
      const session = await open({ lease: { budgets: LIMITS } });
      const underWay: Promise<unknown>[] = [];
      for (const step of steps) {
        if (step.kind === "turn") await turn();
        else underWay.push(take(step, session, kernel));
      }
      await Promise.all(underWay);
      const remaining = (await kernel.getSession(session.id))?.budgetRemaining;
      await kernel.closeSession(session.id);
      const after = (await kernel.getSession(session.id))?.budgetRemaining;
      assert.deepEqual(remaining, after);

      const spent: { [dimension: string]: number } = {};
      let started = 0;
      for (const { entries } of await records(session.id)) {
        for (const { kind } of entries) {
          if (kind.case === "toolStarted") started++;
          if (kind.case === "contentStored")
            spent["stored_bytes"] = (spent["stored_bytes"] ?? 0) + Number(kind.value.size);
          if (kind.value === undefined || !("spent" in kind.value)) continue;
          for (const { dimension, amount } of kind.value.spent)
            spent[dimension] = (spent[dimension] ?? 0) + Number(amount);
        }
      }
      assert.equal(remaining?.calls, LIMITS.calls - started);
      for (const dimension of ["calls", "cost_units", "wall_ms"] as const) {
        assert.equal(remaining?.[dimension], LIMITS[dimension] - (spent[dimension] ?? 0), dimension);
      }
      // Refused calls with large input, and puts with a wrong hash, spend without an outcome that says so.
      assert.ok((remaining?.stored_bytes ?? -1) <= LIMITS.stored_bytes - (spent["stored_bytes"] ?? 0));
      await verifyStore(stores.store, stores.contentStore);
    }),
    { numRuns: RUNS_ALL ? 40 : 20 },
  );
});

test("results, streams, puts and large inputs share one storage budget", async () => {
  const { open, kernel } = await createTestKernel({ tools: TOOLS });
  const left = async (id: string) => (await kernel.getSession(id))?.budgetRemaining.stored_bytes;
  const session = await open({ lease: { budgets: { stored_bytes: 1_000_000 } } });
  await session.call("large", 1);
  assert.equal(await left(session.id), 1_000_000 - 400_002);
  await session.call("quick", "x".repeat(99_998));
  assert.equal(await left(session.id), 1_000_000 - 400_002 - 100_000 - 6);
  await put(session, kernel, 99_992, false);
  assert.equal(await left(session.id), 400_000);
  const refused = await session.call("streams", 1);
  assert.ok(
    refused.response.result.case === "error" && refused.response.result.value.errorCode === "RESOURCE_EXCEEDED",
  );
  assert.equal(await left(session.id), 400_000);
  await assert.rejects(put(session, kernel, 400_001, false), /stored_bytes/);
  // What came before the end of the budget was written.
  assert.equal(await left(session.id), 200_000);
  const denied = await session.call("quick", "x".repeat(500_000));
  assert.ok(
    denied.response.result.case === "denied" && denied.response.result.value.rationaleCode === "BUDGET_EXCEEDED",
  );
  assert.equal(await left(session.id), 200_000);
});

test("large input that no tool accepts is not stored", async () => {
  const files = createMemoryContentStore();
  let opened = 0;
  const contentStore = { ...files, openWriter: () => (opened++, files.openWriter()) };
  const strict = makeTool("strict", () => 1, { inputSchema: { type: "number" } });
  const { open, store } = await createTestKernel({ tools: [strict], contentStore });
  const session = await open();
  assert.equal((await session.call("strict", "x".repeat(1_000_000))).status, "error");
  assert.equal(opened, 0);
  await verifyStore(store, contentStore);
});

async function take(step: Exclude<Step, { kind: "turn" }>, session: TestSession, kernel: Kernel): Promise<unknown> {
  if (step.kind === "close") return kernel.closeSession(session.id);
  if (step.kind === "put") return put(session, kernel, step.size, step.wrong).catch(() => undefined);
  if (step.kind === "cancel") {
    const tool = { case: "cancel" as const, value: { requestId: `r${step.id}` } };
    const request = create(ToolRequestSchema, { requestId: "c", sessionToken: session.token, tool });
    return kernel.call({ request: encode(request), door: "test" });
  }
  const caller = new AbortController();
  const keyed = step.keyed ? { dedupeKey: `k${step.id}` } : {};
  const answer = session.call(step.tool, step.input, { requestId: `r${step.id}`, signal: caller.signal, ...keyed });
  for (let turns = step.abort ?? -1; turns >= 0; turns--) {
    if (turns === 0) caller.abort();
    else await turn();
  }
  return answer;
}

function put(session: TestSession, kernel: Kernel, size: number, wrong: boolean) {
  const chunks = (async function* () {
    yield Buffer.alloc(Math.floor(size / 2));
    await turn();
    yield Buffer.alloc(Math.ceil(size / 2));
  })();
  const expected = wrong ? { expectedHash: new Uint8Array(32) } : {};
  return kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks, ...expected });
}

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  createCountingTool,
  createMemoryStore,
  createTestKernel,
  echoTool,
  type MemoryStore,
  type TestKernel,
} from "@narthex/testkit";
import { BUDGET_DIMENSIONS, type BudgetAmounts } from "../budget/budget.ts";
import type { Tool } from "../tool/tool.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

// A kernel that crashed leaves calls running for ever; their time-outs must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

const remaining = async ({ kernel }: TestKernel, { id }: { readonly id: string }): Promise<BudgetAmounts | undefined> =>
  (await kernel.getSession(id))?.budgetRemaining;

const restart = (store: MemoryStore, tools: readonly Tool[]): Promise<TestKernel> =>
  createTestKernel({ tools, store, random: nextRandom() });

test("rejects a child's budget above its parent's remaining budget, whatever the parent's limit was", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open({ lease: { budgets: { calls: 10 } } });
  await root.call("echo", 1);
  await delegate(at, root, { lease: { budgets: { calls: 5 } } });
  await assert.rejects(delegate(at, root, { lease: { budgets: { calls: 5 } } }), {
    code: "LEASE_INVALID",
    message: /`budgets.calls` asks for 5; the parent has 4 left/,
  });
  assert.deepEqual(await remaining(at, root), { calls: 4 });
});

test("an omitted dimension gets the parent's whole remaining budget, and an unlimited one stays unlimited", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const budgets = Object.fromEntries(BUDGET_DIMENSIONS.map((dimension, index) => [dimension, 100 + index]));
  const root = await at.open({ lease: { budgets } });
  const half = Object.fromEntries(BUDGET_DIMENSIONS.map((dimension) => [dimension, 50]));
  const first = await delegate(at, root, { lease: { budgets: half } });
  assert.deepEqual(await remaining(at, first), half);
  const second = await delegate(at, root, { lease: { budgets: { calls: 1 } } });
  const rest = Object.fromEntries(BUDGET_DIMENSIONS.map((dimension, index) => [dimension, 50 + index]));
  assert.deepEqual(await remaining(at, second), { ...rest, calls: 1 });
  const nothing = Object.fromEntries(BUDGET_DIMENSIONS.map((dimension) => [dimension, 0]));
  assert.deepEqual(await remaining(at, root), { ...nothing, calls: 49 });
  assert.deepEqual(await remaining(at, await delegate(at, await at.open(), { lease: { budgets: { cpu_ms: 3 } } })), {
    cpu_ms: 3,
  });
});

test("concurrent delegations never reserve the same budget", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open({ lease: { budgets: { calls: 10 } } });
  const release = at.store.holdAppends();
  const asked = Array.from({ length: 20 }, () => delegate(at, root, { lease: { budgets: { calls: 3 } } }));
  const settled = Promise.allSettled(asked);
  await new Promise((resolve) => setImmediate(resolve));
  release();
  assert.equal((await settled).filter(({ status }) => status === "fulfilled").length, 3);
  assert.deepEqual(await remaining(at, root), { calls: 1 });
});

test("a hundred concurrent calls of several children and their parent never overspend", async () => {
  const counting = createCountingTool();
  const at = await createTestKernel({ tools: [counting.tool] });
  const root = await at.open({ lease: { budgets: { calls: 20 } } });
  const first = await delegate(at, root, { lease: { budgets: { calls: 7 } } });
  const second = await delegate(at, root, { lease: { budgets: { calls: 6 } } });
  const below = await delegate(at, first, { lease: { budgets: { calls: 4 } } });
  const sessions = [root, first, second, below];
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, index) => (sessions[index % 4] ?? root).call("count", { index })),
  );
  assert.equal(counting.count(), 20);
  assert.equal(results.filter((result) => codeOf(result) === "success").length, 20);
  for (const session of sessions) assert.deepEqual(await remaining(at, session), { calls: 0 });
  await at.kernel.closeSession(first.id);
  await at.kernel.closeSession(second.id);
  assert.deepEqual(await remaining(at, root), { calls: 0 });
});

test("closing a child returns its unspent budget to its parent, and its ledger records how much", async () => {
  const store = createMemoryStore();
  const at = await createTestKernel({ tools: [echoTool], store });
  const root = await at.open({ lease: { budgets: { calls: 10, cost_units: 100 } } });
  const child = await delegate(at, root, { lease: { budgets: { calls: 6, cost_units: 50 } } });
  const below = await delegate(at, child, { lease: { budgets: { calls: 2, cost_units: 10 } } });
  await child.call("echo", 1);
  await below.call("echo", 1);
  assert.deepEqual(await remaining(at, root), { calls: 4, cost_units: 50 });
  await at.kernel.closeSession(child.id);
  assert.deepEqual(await remaining(at, root), { calls: 8, cost_units: 98 });
  assert.equal((await at.kernel.getSession(below.id))?.session.state, "closed");
  const last = (await at.records(child.id)).at(-1);
  const released = last?.entries.at(-1)?.kind;
  assert.ok(released?.case === "leaseReleased");
  assert.deepEqual(
    released.value.returned.map(({ dimension, amount }) => [dimension, Number(amount)]),
    [
      ["calls", 4],
      ["cost_units", 48],
    ],
  );
  const next = await restart(store, [echoTool]);
  assert.deepEqual(await remaining(next, root), { calls: 8, cost_units: 98 });
  assert.deepEqual((await next.kernel.getLease(released.value.parentLeaseId)).childLeaseIds, []);
});

test("a delegated budget stays reserved after a restart, and is returned when the child is closed", async () => {
  const store = createMemoryStore();
  const at = await createTestKernel({ tools: [echoTool], store });
  const root = await at.open({ lease: { budgets: { calls: 10 } } });
  const child = await delegate(at, root, { lease: { budgets: { calls: 6 } } });
  const below = await delegate(at, child, { lease: { budgets: { calls: 4 } } });
  await below.call("echo", 1);
  const next = await restart(store, [echoTool]);
  assert.deepEqual(await remaining(next, root), { calls: 4 });
  assert.deepEqual(await remaining(next, child), { calls: 2 });
  assert.deepEqual(await remaining(next, below), { calls: 3 });
  await assert.rejects(delegate(next, root, { lease: { budgets: { calls: 5 } } }), { code: "LEASE_INVALID" });
  await next.kernel.closeSession(below.id);
  assert.deepEqual(await remaining(next, child), { calls: 5 });
  await next.kernel.closeSession(child.id);
  assert.deepEqual(await remaining(next, root), { calls: 9 });
});

test("an expired child returns its remaining budget by itself, also one that is only in the store", async () => {
  const store = createMemoryStore();
  const at = await createTestKernel({ tools: [echoTool], store });
  const root = await at.open({ lease: { budgets: { calls: 10 } } });
  const brief = await delegate(at, root, { lease: { budgets: { calls: 6 }, ttl_ms: 1000 } });
  await brief.call("echo", 1);
  const next = await restart(store, [echoTool]);
  next.clock.advance(1000);
  assert.deepEqual(await remaining(next, root), { calls: 4 });
  mock.timers.tick(30_000);
  while ((await next.kernel.getSession(brief.id))?.session.state === "open") {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await next.kernel.closeSession(brief.id);
  assert.deepEqual(await remaining(next, root), { calls: 9 });
  const token = { token: brief.token, tool: "echo", input: 1 };
  assert.equal(codeOf(await next.kernel.callInProcess(token)), "SESSION_EXPIRED");
});

/** A tree three deep whose kernel died while the deepest ran an effect; the next kernel on its store. */
async function crashBelow(store: MemoryStore) {
  const started = Promise.withResolvers<void>();
  const hanging = createCountingTool("count", () => {
    started.resolve();
    return new Promise(() => undefined);
  });
  const at = await createTestKernel({ tools: [hanging.tool], store });
  const root = await at.open({ lease: { budgets: { calls: 10, cost_units: 10 } } });
  const child = await delegate(at, root, { lease: { budgets: { calls: 6 } } });
  const below = await delegate(at, child, { lease: { budgets: { calls: 4 } } });
  void below.call("count", 1, { requestId: "lost" });
  await started.promise;
  return { root, child, below, next: await restart(store, [createCountingTool().tool]) };
}

test("a child's call with unknown outcome counts as spent until it is settled, whatever sessions above it ended", async () => {
  for (const answer of ["did_not_happen", "happened"] as const) {
    for (const closed of ["neither", "below", "both"] as const) {
      const store = createMemoryStore();
      const { root, child, below, next } = await crashBelow(store);
      assert.deepEqual(await remaining(next, below), { calls: 3, cost_units: 9 });
      if (closed === "below") await next.kernel.closeSession(below.id);
      if (closed === "both") await next.kernel.closeSession(child.id);
      const later = await restart(store, [createCountingTool().tool]);
      const kept = {
        neither: { calls: 4, cost_units: 0 },
        below: { calls: 4, cost_units: 0 },
        both: { calls: 9, cost_units: 9 },
      };
      assert.deepEqual(await remaining(later, root), kept[closed], closed);
      if (closed === "below") assert.deepEqual(await remaining(later, child), { calls: 5, cost_units: 9 });
      await later.kernel.settleIntent({ sessionId: below.id, requestId: "lost", answer, by: "ann" });
      if (closed !== "both") await later.kernel.closeSession(child.id);
      const left = answer === "happened" ? 9 : 10;
      assert.deepEqual(await remaining(later, root), { calls: left, cost_units: left }, `${answer} ${closed}`);
      const last = await restart(store, [createCountingTool().tool]);
      assert.deepEqual(await remaining(last, root), { calls: left, cost_units: left });
    }
  }
});

test("closing a session first closes its descendants and cancels their calls", async () => {
  const hanging = createCountingTool("count", () => new Promise(() => undefined));
  const at = await createTestKernel({ tools: [hanging.tool] });
  const root = await at.open();
  const child = await delegate(at, root);
  const below = await delegate(at, child);
  const running = below.call("count", 1);
  while ((await at.kernel.listIntents()).length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [, result] = await Promise.all([at.kernel.closeSession(root.id), running]);
  assert.equal(codeOf(result), "CANCELLED");
  for (const { call } of [root, child, below]) assert.equal(codeOf(await call("count", 1)), "SESSION_CLOSED");
  const closings = (await at.records()).filter(({ entries }) =>
    entries.some(({ kind }) => kind.case === "sessionClosed"),
  );
  assert.deepEqual(
    closings.map(({ chain }) => chain),
    [below.id, child.id, root.id],
  );
});

test("a delegation during a close is rejected, or closed with its parent", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  for (let turns = 0; turns < 6; turns++) {
    const root = await at.open({ lease: { budgets: { calls: 5 } } });
    const splitting = delegate(at, root).catch(() => undefined);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await at.kernel.closeSession(root.id);
    const child = await splitting;
    const codes = child === undefined ? "SESSION_CLOSED" : codeOf(await child.call("echo", 1));
    assert.equal(codes, "SESSION_CLOSED");
  }
});

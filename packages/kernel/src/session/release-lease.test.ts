import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, createWaitingTool, echoTool, type TestKernel } from "@narthex/testkit";
import type { LeaseRelease } from "../lease/delegation.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { defineTool } from "../tool/define-tool.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

const TOOLS = [echoTool];

/** What a release is refused with; nothing is written. */
async function refusal({ kernel, store }: TestKernel, release: LeaseRelease) {
  const records = store.size;
  try {
    await kernel.releaseLease(release);
  } catch (fault) {
    assert.ok(isKernelError(fault), String(fault));
    assert.equal(store.size, records);
    return { code: fault.code, message: fault.message.replace(release.leaseId.slice(0, 80), "ID") };
  }
  return assert.fail("it was not refused");
}

test("another session's, an ancestor's, an ended and a missing lease are LEASE_NOT_FOUND, with the same message", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open({ lease: { budgets: { calls: 20 } } });
  const rootLease = (await at.kernel.getSession(root.id))?.lease.id ?? assert.fail();
  const caller = await delegate(at, root, { lease: { budgets: { calls: 10 } } });
  const sibling = await delegate(at, root, { lease: { budgets: { calls: 1 } } });
  const below = await delegate(at, caller, { lease: { budgets: { calls: 5 } } });
  const stranger = await at.open();
  const strangerLease = (await at.kernel.getSession(stranger.id))?.lease.id ?? assert.fail();
  const over = await delegate(at, caller, { lease: { budgets: { calls: 1 } } });
  await at.kernel.closeSession(over.id);
  const none = await refusal(at, { token: caller.token, leaseId: "lea_aaaaaaaaaaaaaaaaaaaa" });
  assert.equal(none.code, "LEASE_NOT_FOUND");
  for (const leaseId of [rootLease, sibling.leaseId, strangerLease, over.leaseId]) {
    assert.deepEqual(await refusal(at, { token: caller.token, leaseId }), none);
    assert.deepEqual(await refusal(at, { sessionId: caller.id, leaseId }), none);
  }
  for (const leaseId of ["", "lea_", below.id, `${caller.leaseId}/${below.leaseId}`, "\0", "x".repeat(100_000)]) {
    assert.equal((await refusal(at, { token: caller.token, leaseId })).code, "LEASE_NOT_FOUND");
  }
  for (const session of [root, caller, sibling, below, stranger]) {
    assert.equal(codeOf(await session.call("echo", 1)), "success");
  }
});

test("a session cannot release its own lease, or any lease by an invalid token or under a revoked lease", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open();
  const child = await delegate(at, root);
  const below = await delegate(at, child);
  assert.equal((await refusal(at, { token: child.token, leaseId: child.leaseId })).code, "INVALID_INPUT");
  const release = { leaseId: below.leaseId };
  assert.equal((await refusal(at, { ...release, token: `${child.token}x` })).code, "SESSION_UNKNOWN");
  assert.equal((await refusal(at, { ...release, sessionId: "ses_aaaaaaaaaaaaaaaaaaaa" })).code, "SESSION_UNKNOWN");
  await at.kernel.revokeLease({ leaseId: child.leaseId, reason: "", by: "ann" });
  assert.equal((await refusal(at, { ...release, token: child.token })).code, "LEASE_REVOKED");
  // Whoever is above may still take back what was revoked.
  await at.kernel.releaseLease({ token: root.token, leaseId: child.leaseId });
  assert.equal((await refusal(at, { ...release, token: child.token })).code, "SESSION_CLOSED");
});

test("releasing a lease ends all leases below it, cancels their calls and returns the remaining budget once", async () => {
  const waiting = createWaitingTool();
  const at = await createTestKernel({ tools: [echoTool, waiting.tool] });
  const root = await at.open({ lease: { budgets: { calls: 20, cost_units: 100 } } });
  const child = await delegate(at, root, { lease: { budgets: { calls: 10, cost_units: 10 } } });
  const below = await delegate(at, child, { lease: { budgets: { calls: 4, cost_units: 4 } } });
  await child.call("echo", 1);
  await below.call("echo", 1);
  const running = below.call("wait", {});
  await waiting.started;
  const release = () => at.kernel.releaseLease({ token: root.token, leaseId: child.leaseId });
  const [first, second] = await Promise.all([release(), release()]);
  assert.equal(codeOf(await running), "CANCELLED");
  assert.deepEqual(first.budgetReturned, { calls: 7, cost_units: 7 });
  assert.deepEqual(second, first);
  assert.deepEqual((await at.kernel.getSession(root.id))?.budgetRemaining, { calls: 17, cost_units: 97 });
  for (const session of [child, below]) assert.equal(codeOf(await session.call("echo", 1)), "SESSION_CLOSED");
  const ended = await at.records();
  const closed = ended.filter(({ entries }) => entries.some(({ kind }) => kind.case === "sessionClosed"));
  assert.deepEqual(
    closed.map(({ chain }) => chain),
    [below.id, child.id],
  );
  await assert.rejects(release(), { code: "LEASE_NOT_FOUND" });
  await verifyStore(at.store);
});

test("an ancestor at any depth releases a lease, also after a restart, and gets the returned amount of every limit", async () => {
  const store = createMemoryStore();
  const before = await createTestKernel({ tools: TOOLS, store });
  const root = await before.open({ lease: { budgets: { calls: 5 } } });
  const child = await delegate(before, root);
  const deep = await delegate(before, child, { lease: { budgets: { calls: 5, cost_units: 3 } } });
  for (let call = 0; call < 3; call++) await deep.call("echo", call);
  const at = await createTestKernel({ tools: TOOLS, store, random: nextRandom() });
  const { budgetReturned } = await at.kernel.releaseLease({ token: root.token, leaseId: deep.leaseId });
  assert.deepEqual(budgetReturned, { calls: 2 });
  assert.deepEqual((await at.kernel.getSession(child.id))?.budgetRemaining, { calls: 2 });
  const used = await delegate(at, child, { lease: { budgets: { calls: 1 } } });
  await used.call("echo", 1);
  const released = await at.kernel.releaseLease({ token: child.token, leaseId: used.leaseId });
  assert.deepEqual(released.budgetReturned, { calls: 0 });
  await verifyStore(store);
});

test("the reservation of a call with unknown outcome is not returned with its lease", async () => {
  const hang = Promise.withResolvers<null>();
  const hanging = defineTool({
    name: "hang",
    description: "Does not say what it did.",
    inputSchema: true,
    tier: "side_effecting",
    effects: ["db_write"],
    capabilities: [{ kind: "db_write", names: [] }],
    price: 3,
    run: () => hang.promise,
  });
  const store = createMemoryStore();
  const lease = { budgets: { cost_units: 10 }, capabilities: [{ kind: "db_write", names: ["*"] }] as const };
  const before = await createTestKernel({ tools: [hanging], store });
  const root = await before.open({ lease });
  const child = await delegate(before, root);
  const lost = child.call("hang", {});
  while ((await store.listState("intents", "", 1)).length === 0) await new Promise((next) => setImmediate(next));
  const at = await createTestKernel({ tools: [hanging], store, random: nextRandom() });
  const { budgetReturned } = await at.kernel.releaseLease({ token: root.token, leaseId: child.leaseId });
  assert.deepEqual(budgetReturned, { cost_units: 7 });
  assert.deepEqual((await at.kernel.getSession(root.id))?.budgetRemaining, { cost_units: 7 });
  // Nobody waits for its time to be up.
  hang.resolve(null);
  await lost;
});

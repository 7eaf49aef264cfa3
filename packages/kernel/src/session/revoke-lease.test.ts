import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  createCountingTool,
  createMemoryStore,
  createTestKernel,
  createWaitingTool,
  echoTool,
  permitAll,
} from "@narthex/testkit";
import type { Approver } from "../ports.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

// A kernel that is left behind must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

const WHY = { reason: "the work is over", by: "ann" };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an unknown lease is LEASE_NOT_FOUND, including keys of other rows", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open();
  const child = await delegate(at, root);
  const { leaseId = "" } = (await at.kernel.getSession(root.id))?.session ?? {};
  for (const wrong of ["", "lea_", leaseId.slice(0, -1), `${leaseId}/${child.leaseId}`, root.id, "x".repeat(10_000)]) {
    await assert.rejects(at.kernel.revokeLease({ leaseId: wrong, ...WHY }), { code: "LEASE_NOT_FOUND" });
    await assert.rejects(at.kernel.getLease(wrong), { code: "LEASE_NOT_FOUND" });
  }
  assert.equal(codeOf(await child.call("echo", 1)), "success");
});

test("revoking a lease revokes all its children at once and cancels their calls, and other leases continue", async () => {
  const waiting = createWaitingTool();
  const hanging = createCountingTool("count", () => new Promise(() => undefined));
  const at = await createTestKernel({ tools: [waiting.tool, hanging.tool, echoTool] });
  const root = await at.open();
  const top = await delegate(at, root);
  const below = await delegate(at, top);
  const sibling = await delegate(at, root);
  const harmless = top.call("wait", 1);
  const effect = below.call("count", 1);
  await waiting.started;
  while ((await at.kernel.listIntents()).length === 0) await turn();
  const revoked = await at.kernel.revokeLease({ leaseId: top.leaseId, ...WHY });
  assert.deepEqual(revoked, { leaseIds: [top.leaseId, below.leaseId], cancelledCalls: 2 });
  assert.deepEqual([codeOf(await harmless), codeOf(await effect)], ["CANCELLED", "CANCELLED"]);
  const outcome = (await at.records(below.id))
    .flatMap(({ entries }) => entries)
    .find(({ kind }) => kind.case === "toolFailed");
  assert.ok(outcome?.kind.case === "toolFailed" && outcome.kind.value.effectsPossible);
  for (const { call } of [top, below]) assert.equal(codeOf(await call("echo", 1)), "LEASE_REVOKED");
  for (const { call } of [root, sibling]) assert.equal(codeOf(await call("echo", 1)), "success");
  for (const { token } of [top, below]) {
    await assert.rejects(at.kernel.delegateLease({ token }), { code: "LEASE_REVOKED" });
  }
  const states = await Promise.all(
    [top, below, sibling].map(async ({ leaseId }) => (await at.kernel.getLease(leaseId)).state),
  );
  assert.deepEqual(states, ["revoked", "revoked", "active"]);
});

test("a revocation is recorded once in each session's ledger, with who and why, even if it is repeated", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open();
  const child = await delegate(at, root);
  const { leaseId = "" } = (await at.kernel.getSession(root.id))?.session ?? {};
  await at.kernel.revokeLease({ leaseId: child.leaseId, reason: "first", by: "eve" });
  const asked = Array.from({ length: 3 }, () => at.kernel.revokeLease({ leaseId, ...WHY }));
  for (const { leaseIds } of await Promise.all(asked)) assert.deepEqual(leaseIds, [leaseId, child.leaseId]);
  const said = (await at.records()).flatMap(({ chain, entries }) =>
    entries.flatMap(({ kind }) => (kind.case === "leaseRevoked" ? [[chain, kind.value.leaseId, kind.value.by]] : [])),
  );
  assert.deepEqual(said, [
    [child.id, child.leaseId, "eve"],
    [root.id, leaseId, "ann"],
  ]);
});

test("revoked leases stay revoked after a restart, and children that are only in the store are found", async () => {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools: [echoTool], store });
  const root = await first.open();
  const top = await delegate(first, root);
  const below = await delegate(first, top);
  const second = await createTestKernel({ tools: [echoTool], store, random: nextRandom() });
  const revoked = await second.kernel.revokeLease({ leaseId: top.leaseId, ...WHY });
  assert.deepEqual(revoked.leaseIds, [top.leaseId, below.leaseId]);
  const third = await createTestKernel({ tools: [echoTool], store, random: nextRandom() });
  for (const { token } of [below, top]) {
    assert.equal(codeOf(await third.kernel.callInProcess({ token, tool: "echo", input: 1 })), "LEASE_REVOKED");
  }
  assert.equal((await third.kernel.getLease(below.leaseId)).lease.revoked, true);
});

test("a kernel that dies during a revocation has revoked everything below the first lease written", async () => {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools: [echoTool], store });
  const root = await first.open();
  const top = await delegate(first, root);
  const below = await delegate(first, top);
  // The first record becomes durable, and nothing after it.
  const { append } = store;
  store.append = (write) => append(write).then(() => new Promise(() => undefined));
  void first.kernel.revokeLease({ leaseId: top.leaseId, ...WHY });
  while (store.size === 0 || !(await revokedRow(store, top.leaseId))) await turn();
  store.append = append;
  const next = await createTestKernel({ tools: [echoTool], store, random: nextRandom() });
  assert.equal(await revokedRow(store, below.leaseId), false);
  for (const { token } of [below, top]) {
    assert.equal(codeOf(await next.kernel.callInProcess({ token, tool: "echo", input: 1 })), "LEASE_REVOKED");
  }
  assert.equal((await next.kernel.getLease(below.leaseId)).state, "revoked");
});

async function revokedRow(store: ReturnType<typeof createMemoryStore>, leaseId: string): Promise<boolean> {
  const row = await store.getState("leases", leaseId);
  return row !== undefined && (JSON.parse(Buffer.from(row).toString()) as { revoked: boolean }).revoked;
}

test("content can be neither put nor read under a revoked lease", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open();
  const child = await delegate(at, root);
  const chunks = (async function* () {
    yield Buffer.from("bytes");
  })();
  const { hash } = await at.kernel.putContent({ sessionId: child.id, door: "test", labels: [], chunks });
  await at.kernel.revokeLease({ leaseId: (await at.kernel.getSession(root.id))?.lease.id ?? "", ...WHY });
  const put = at.kernel.putContent({ sessionId: child.id, door: "test", labels: [], chunks });
  await assert.rejects(put, { code: "LEASE_REVOKED" });
  await assert.rejects(at.kernel.getContent(child.id, hash, 0, 10), { code: "LEASE_REVOKED" });
});

test("a revoked lease withdraws its approval requests, and a later approval runs nothing", async () => {
  const counting = createCountingTool();
  const asked = Promise.withResolvers<AbortSignal>();
  const approver: Approver = {
    door: "test",
    ask: (_, signal) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    },
  };
  const at = await createTestKernel({ tools: [counting.tool], policy: permitAll([counting.tool], "human"), approver });
  const root = await at.open();
  const child = await delegate(at, root);
  const call = child.call("count", 1);
  const signal = await asked.promise;
  await at.kernel.revokeLease({ leaseId: child.leaseId, ...WHY });
  assert.equal(codeOf(await call), "CANCELLED");
  assert.equal(signal.aborted, true);
  assert.equal(codeOf(await child.call("count", 1)), "LEASE_REVOKED");
  assert.equal(counting.count(), 0);
});

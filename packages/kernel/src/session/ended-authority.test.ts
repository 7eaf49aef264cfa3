import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import {
  createCountingTool,
  createMemoryStore,
  createTestClock,
  createTestKernel,
  createTestRandom,
  echoTool,
  type MemoryStore,
  permitAll,
} from "@narthex/testkit";
import type { ContentPut } from "../kernel.ts";
import { defineTool } from "../tool/define-tool.ts";
import { codeOf } from "./testing/delegated-session.ts";

/** Nothing is written until it is opened again. */
function hold(store: MemoryStore): () => void {
  const { append } = store;
  const { promise, resolve } = Promise.withResolvers<void>();
  store.append = (write) => promise.then(() => append(write));
  return () => {
    store.append = append;
    resolve();
  };
}

/** An upload that ends when it is told to. */
function upload(sessionId: string, bytes: number, labels: readonly string[] = []) {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  async function* chunks() {
    yield new Uint8Array(bytes);
    begin();
    await promise;
  }
  const put: ContentPut = { door: "test", sessionId, labels, chunks: chunks() };
  return { put, begun, finish };
}

const codeOfFault = (fault: { code: string }): string => fault.code;

test("a call that waited for an abandoned one does not start under a lease revoked meanwhile", async () => {
  const store = createMemoryStore();
  let runs = 0;
  const started = Promise.withResolvers<void>();
  const waiting = defineTool({
    name: "wait",
    description: "Waits at first.",
    inputSchema: true,
    tier: "read_only",
    run: (_, { signal }) => {
      started.resolve();
      if (++runs > 1) return null;
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("left"))),
      );
    },
  });
  const at = await createTestKernel({ tools: [waiting], store });
  const session = await at.open();
  const leaseId = (await at.kernel.getSession(session.id))?.lease.id ?? "";
  const leave = new AbortController();
  const first = session.call("wait", 1, { requestId: "r", signal: leave.signal });
  await started.promise;
  const open = hold(store);
  leave.abort();
  await setImmediate();
  const second = session.call("wait", 1, { requestId: "r" });
  await setImmediate();
  const revoking = at.kernel.revokeLease({ leaseId, reason: "over", by: "ann" });
  await setImmediate();
  open();
  await Promise.all([revoking, first]);
  assert.equal(codeOf(await second), "LEASE_REVOKED");
  assert.equal(runs, 1);
});

test("content is neither put nor read under an expired lease", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const { id } = await at.open({ lease: { ttl_ms: 1000 } });
  const early = upload(id, 1);
  early.finish();
  const { hash } = await at.kernel.putContent(early.put);
  at.clock.advance(5000);
  assert.equal(await at.kernel.getContent(id, hash, 0, 0).then(() => "read", codeOfFault), "LEASE_EXPIRED");
  assert.equal(await at.kernel.putContent(upload(id, 2).put).then(() => "stored", codeOfFault), "LEASE_EXPIRED");
});

test("does not store an upload that ends after its lease was revoked", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const { id } = await at.open();
  const leaseId = (await at.kernel.getSession(id))?.lease.id ?? "";
  const { put, begun, finish } = upload(id, 1);
  const putting = at.kernel.putContent(put).then(() => "stored", codeOfFault);
  await begun;
  await at.kernel.revokeLease({ leaseId, reason: "over", by: "ann" });
  finish();
  assert.equal(await putting, "LEASE_REVOKED");
});

test("a lease released during an upload returns its budget and leaves no row", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const root = await at.open({ lease: { budgets: { stored_bytes: 1000 } } });
  const before = (await at.store.listState("leases", "", 100)).length;
  for (let round = 0; round < 3; round++) {
    const lease = { budgets: { stored_bytes: 100 } };
    const { session } = await at.kernel.delegateLease({ token: root.token, lease });
    const { put, begun, finish } = upload(session.session.id, 50);
    const putting = at.kernel.putContent(put).then(() => "stored", codeOfFault);
    await begun;
    await at.kernel.releaseLease({ token: root.token, leaseId: session.lease.id });
    finish();
    assert.equal(await putting, "SESSION_CLOSED");
  }
  assert.equal((await at.kernel.getSession(root.id))?.budgetRemaining["stored_bytes"], 1000);
  const carvings = (await at.store.listState("leases", "", 100)).filter(({ key }) => key.includes("/"));
  assert.deepEqual(carvings, [], `${before} before`);
});

test("concurrent uploads cannot exceed a session's limit of labels", async () => {
  const at = await createTestKernel({ tools: [echoTool] });
  const { id } = await at.open();
  const uploads = Array.from({ length: 20 }, (_, i) =>
    upload(
      id,
      1,
      Array.from({ length: 16 }, (_label, j) => `l${i}-${j}`),
    ),
  );
  const puts = uploads.map(({ put }) => at.kernel.putContent(put).then(() => "stored", codeOfFault));
  await Promise.all(uploads.map(({ begun }) => begun));
  for (const { finish } of uploads) finish();
  const ends = await Promise.all(puts);
  assert.equal(ends.filter((end) => end === "stored").length, 4);
  assert.equal((await at.kernel.getSession(id))?.session.labels.length, 64);
});

test("a late settlement does not return budget that the parent has spent since", async () => {
  const store = createMemoryStore();
  const hanging = createCountingTool("count", () => new Promise(() => undefined));
  const tools = [hanging.tool, echoTool];
  const first = await createTestKernel({ tools, store });
  const root = await first.open({ lease: { budgets: { calls: 100 } } });
  const { session, token } = await first.kernel.delegateLease({
    token: root.token,
    lease: { budgets: { calls: 10 } },
  });
  const sessionId = session.session.id;
  void first.kernel.callInProcess({ token, tool: "count", input: 1, requestId: "x" });
  while ((await first.kernel.listIntents()).length === 0) await setImmediate();
  const second = await createTestKernel({ tools, store, random: createTestRandom("b") });
  await second.kernel.closeSession(sessionId);
  const { chainHead } = store;
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  store.chainHead = (chain) => gate.then(() => chainHead(chain));
  const settling = second.kernel.settleIntent({ sessionId, requestId: "x", answer: "did_not_happen", by: "ann" });
  await setImmediate();
  for (let i = 0; i < 7; i++) await second.kernel.callInProcess({ token: root.token, tool: "echo", input: i });
  store.chainHead = chainHead;
  open();
  await settling;
  const third = await createTestKernel({ tools, store, random: createTestRandom("c") });
  const left = async (at: typeof third) => (await at.kernel.getSession(root.id))?.budgetRemaining["calls"];
  assert.equal(await left(third), await left(second));
  assert.equal(await left(second), 93);
  // The call that hangs would keep the process.
  await first.kernel.close({ graceMs: 0 }).catch(() => undefined);
});

test("an approval in progress when its session closes leaves no standing approval", async () => {
  const store = createMemoryStore();
  const policy = permitAll([echoTool], "human");
  const at = await createTestKernel({ tools: [echoTool], store, policy, settings: { approvalWaitMs: 1 } });
  at.kernel.openApprovalDoor();
  const session = await at.open();
  await session.call("echo", 1);
  const approvalId = at.kernel.listApprovals().open[0]?.approvalId ?? "";
  const open = hold(store);
  const answering = at.kernel.resolveApproval({ approvalId, answer: "session", approver: "ann", door: "cli" });
  const closing = at.kernel.closeSession(session.id);
  await setImmediate();
  open();
  await Promise.all([answering, closing]);
  assert.deepEqual(at.kernel.listApprovals().standing, []);
  assert.deepEqual(await store.listState("approvals", "", 10), []);
});

test("approvals of a session that expired while no kernel ran are removed soon after the next start", async () => {
  const store = createMemoryStore();
  const clock = createTestClock();
  const policy = permitAll([echoTool], "human");
  const first = await createTestKernel({ tools: [echoTool], store, clock, policy, settings: { approvalWaitMs: 1 } });
  first.kernel.openApprovalDoor();
  const session = await first.open({ ttlMs: 1000 });
  await session.call("echo", 1);
  const approvalId = first.kernel.listApprovals().open[0]?.approvalId ?? "";
  await first.kernel.resolveApproval({ approvalId, answer: "session", approver: "ann", door: "cli" });
  clock.advance(365 * 86_400_000);
  const next = await createTestKernel({ tools: [echoTool], store, clock, policy, random: createTestRandom("z") });
  while (next.kernel.listApprovals().standing.length > 0) await setImmediate();
});

test("an uncollected denial does not count as a pending request", async () => {
  const policy = permitAll([echoTool], "human");
  const at = await createTestKernel({ tools: [echoTool], policy, settings: { approvalWaitMs: 1 } });
  at.kernel.openApprovalDoor();
  const session = await at.open();
  for (let i = 0; i < 32; i++) await session.call("echo", i);
  for (const { approvalId } of at.kernel.listApprovals().open) {
    await at.kernel.resolveApproval({ approvalId, answer: "deny", approver: "ann", door: "cli" });
  }
  assert.equal(codeOf(await session.call("echo", 99)), "APPROVAL_PENDING");
});

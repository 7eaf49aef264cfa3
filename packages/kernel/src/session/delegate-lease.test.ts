import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, echoTool, type TestKernel } from "@narthex/testkit";
import type { Capability } from "../capability/capability.ts";
import type { Delegation } from "../lease/delegation.ts";
import { isLeaseSubset } from "../lease/is-lease-subset.ts";
import { parseLeaseRequest } from "../lease/parse-lease-request.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { defineTool } from "../tool/define-tool.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

const hash = defineTool({ ...echoTool, name: "hash" });
const TOOLS = [echoTool, hash];
const IN_WORKSPACE: Capability = { kind: "fs_read", prefixes: ["/workspace"] };

/** What a delegation is refused with; nothing is left of it. */
async function refusal({ kernel, store }: TestKernel, delegation: Delegation) {
  const [records, sessions] = [store.size, await store.listState("sessions", "", 1000)];
  try {
    await kernel.delegateLease(delegation);
  } catch (fault) {
    assert.ok(isKernelError(fault), String(fault));
    assert.equal(store.size, records);
    assert.deepEqual(await store.listState("sessions", "", 1000), sessions);
    return { code: fault.code, fields: fault.violations.map(({ field }) => field), message: fault.message };
  }
  return assert.fail("it was not refused");
}

test("a child that exceeds its parent is LEASE_INVALID with every dimension at once, and nothing is written", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const { token, id } = await at.open({
    lease: {
      tool_patterns: ["echo"],
      capabilities: [IN_WORKSPACE],
      highest_tier: "read_only",
      budgets: { calls: 5, stored_bytes: 10 },
      ttl_ms: 10_000,
    },
  });
  const refused = await refusal(at, {
    token,
    lease: {
      tool_patterns: ["echo", "hash", "e*"],
      capabilities: [IN_WORKSPACE, { kind: "fs_write", prefixes: ["/workspace"] }, { kind: "clock" }],
      highest_tier: "privileged",
      budgets: { calls: 6, stored_bytes: 11, wall_ms: 1 },
      not_before_ms: 1,
      ttl_ms: 20_000,
      delegable: { tool_patterns: ["hash"] },
    },
  });
  assert.equal(refused.code, "LEASE_INVALID");
  assert.deepEqual(refused.fields, [
    "tool_patterns",
    "capabilities",
    "highest_tier",
    "not_before_ms",
    "expires_at_ms",
    "delegable",
    "budgets.calls",
    "budgets.stored_bytes",
  ]);
  assert.match(refused.message, /`tool_patterns` the parent does not delegate `e\*`, `hash`/);
  assert.match(refused.message, /fs_write \/workspace, clock/);
  assert.deepEqual((await at.kernel.getSession(id))?.budgetRemaining, { calls: 5, stored_bytes: 10 });
});

test("rejects an invalid amount, path, host or pattern before any comparison", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const { token, id } = await at.open();
  const wrong: JsonValue[] = [
    { budgets: { calls: -1 } },
    { budgets: { calls: 0.5 } },
    { budgets: { calls: "5" } },
    { budgets: { calls: 2 ** 53 } },
    { budgets: { Calls: 1 } },
    { capabilities: [{ kind: "fs_read", prefixes: ["/workspace/.."] }] },
    { capabilities: [{ kind: "fs_read", prefixes: ["/workspace/../etc"] }] },
    { capabilities: [{ kind: "fs_read", prefixes: ["/workspace/./a"] }] },
    { capabilities: [{ kind: "fs_read", prefixes: ["workspace"] }] },
    { capabilities: [{ kind: "fs_read", prefixes: [] }] },
    { capabilities: [{ kind: "net_read", hosts: [{ host: "example.com." }] }] },
    { capabilities: [{ kind: "net_read", hosts: [{ host: "*.*.example.com" }] }] },
    { capabilities: [{ kind: "everything" }] },
    { tool_patterns: ["e*o"] },
    { tool_patterns: ["**"] },
    { tool_patterns: [""] },
    { highest_tier: "root" },
    { ttl_ms: 0 },
    { ttl_ms: -1 },
    { id: "lea_aaaaaaaaaaaaaaaaaaaa" },
    { parent_id: "lea_aaaaaaaaaaaaaaaaaaaa" },
    { revoked: false },
  ];
  for (const lease of wrong) {
    assert.throws(() => parseLeaseRequest(lease), { code: "LEASE_INVALID" }, JSON.stringify(lease));
    // Code that does not ask the compiler comes no further: what it may not say is not even looked at.
    const delegating = at.kernel.delegateLease({ token, lease: lease as NonNullable<Delegation["lease"]> });
    const granted = await delegating.then(
      ({ session }) => session.lease,
      () => undefined,
    );
    if (granted === undefined) continue;
    const { lease: own } = (await at.kernel.getSession(id)) ?? assert.fail();
    assert.ok(granted.id !== own.id && granted.parentId === own.id && isLeaseSubset(granted, own));
  }
  for (const calls of [Number.NaN, Number.POSITIVE_INFINITY, -0.1]) {
    assert.equal((await refusal(at, { token, lease: { budgets: { calls } } })).code, "LEASE_INVALID");
  }
});

test("rejects lists too long to compare, and quickly", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const { token } = await at.open();
  const names = (count: number, of: string) => Array.from({ length: count }, (_, index) => `${of}${index}`);
  const capability = (prefix: number): Capability => ({
    kind: "fs_read",
    prefixes: names(900, `/workspace/${prefix}/`),
  });
  const started = performance.now();
  for (const lease of [
    { tool_patterns: names(1001, "echo") },
    { tool_patterns: names(10_001, "echo") },
    { capabilities: [1, 2].map(capability) },
    { capabilities: Array.from({ length: 1001 }, () => IN_WORKSPACE) },
    { delegable: { capabilities: [1, 2].map(capability) } },
  ]) {
    assert.equal((await refusal(at, { token, lease })).code, "LEASE_INVALID");
  }
  assert.ok(performance.now() - started < 5000);
});

test("names a working directory outside, another workspace, tenant or user, a short seed and bad labels at once", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const { token } = await at.open();
  const refused = await refusal(at, {
    token,
    workingDirectory: "/workspace/../etc",
    seed: new Uint8Array(31),
    labels: ["fine", "a\nb", ""],
    agent: "",
    workspace: "/other",
    tenant: "other",
    user: "root",
  });
  assert.equal(refused.code, "INVALID_INPUT");
  assert.deepEqual(refused.fields, [
    "working_directory",
    "agent",
    "seed",
    "labels[1]",
    "labels[2]",
    "workspace",
    "tenant",
    "user",
    "agent",
  ]);
  for (const workingDirectory of ["/workspace2", "/", "/etc", "workspace", "/workspace/", "/workspace/a/../../etc"]) {
    assert.deepEqual((await refusal(at, { token, workingDirectory })).fields, ["working_directory"], workingDirectory);
  }
});

test("only an open session with a valid lease delegates: none that is closed, expired, quarantined, revoked or unknown", async () => {
  const violating = defineTool({
    name: "violate",
    description: "Tries to leave.",
    inputSchema: true,
    tier: "read_only",
    run: (_, context) => context.artifacts.publish({} as never).then(() => null),
  });
  const at = await createTestKernel({
    tools: [...TOOLS, violating],
    settings: { quarantine: { limit: 1, windowMs: 1000 } },
  });
  const { kernel, clock, open } = at;
  const code = async (token: string) => (await refusal(at, { token })).code;
  const [closed, quarantined, revoked, brief, later] = [
    await open(),
    await open(),
    await open(),
    await open({ lease: { ttl_ms: 1000 } }),
    await open({ lease: { not_before_ms: clock.nowMs() + 50_000 } }),
  ];
  const child = await delegate(at, quarantined);
  await kernel.closeSession(closed.id);
  await quarantined.call("violate", 1);
  const leaseId = (await kernel.getSession(revoked.id))?.lease.id ?? "";
  await kernel.revokeLease({ leaseId, reason: "over", by: "ann" });
  assert.equal(await code(closed.token), "SESSION_CLOSED");
  assert.equal(await code(quarantined.token), "SESSION_QUARANTINED");
  assert.equal(await code(child.token), "SESSION_QUARANTINED");
  assert.equal(codeOf(await child.call("echo", 1)), "SESSION_QUARANTINED");
  assert.equal(await code(revoked.token), "LEASE_REVOKED");
  assert.equal(await code(later.token), "LEASE_EXPIRED");
  clock.advance(1000);
  assert.equal(await code(brief.token), "LEASE_EXPIRED");
  clock.advance(9 * 3_600_000);
  assert.equal(await code(later.token), "SESSION_EXPIRED");
  for (const token of ["", "x", closed.token.slice(0, -1), `${later.token}x`]) {
    assert.equal(await code(token), "SESSION_UNKNOWN");
  }
  for (const sessionId of ["", "ses_aaaaaaaaaaaaaaaaaaaa", `${later.id}/usage`, leaseId]) {
    assert.equal((await refusal(at, { sessionId })).code, "SESSION_UNKNOWN");
  }
});

test("leases can be delegated sixteen levels deep and no deeper", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  let deepest = await at.open();
  for (let depth = 1; depth <= 16; depth++) deepest = await delegate(at, deepest);
  assert.equal(codeOf(await deepest.call("echo", 1)), "success");
  for (let again = 0; again < 84; again++) {
    assert.equal((await refusal(at, { token: deepest.token })).code, "LEASE_INVALID");
  }
  await verifyStore(at.store);
});

test("limits the sessions of a tree, and closing one makes room", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open();
  const children = await Promise.all(Array.from({ length: 999 }, () => delegate(at, root)));
  const [first = root, second = root] = children;
  await delegate(at, first);
  for (const session of [root, first, second]) {
    assert.match((await refusal(at, { token: session.token })).message, /at most 1000 sessions/);
  }
  await at.kernel.closeSession(second.id);
  const last = await delegate(at, first);
  const next = await createTestKernel({ tools: TOOLS, store: at.store, random: nextRandom() });
  assert.match((await refusal(next, { token: last.token })).message, /at most 1000 sessions/);
});

test("stored rows that make a lease its own or another's ancestor grant nothing", async () => {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools: TOOLS, store });
  const root = await first.open();
  const stranger = await first.open();
  const child = await delegate(first, root);
  const grandchild = await delegate(first, child);
  const forge = async (sessionId: string, parentSessionId: string) => {
    const row = JSON.parse(Buffer.from((await store.getState("sessions", sessionId)) ?? []).toString()) as object;
    const value = Buffer.from(JSON.stringify({ ...row, parent_session_id: parentSessionId }));
    const { nextIndex: index } = await store.head();
    await store.append({
      index,
      chain: "system",
      sequence: index,
      requestId: "",
      hash: new Uint8Array(32),
      record: (await store.readRecord(0))?.record ?? new Uint8Array(),
      content: [],
      state: [{ table: "sessions", key: sessionId, value }],
    });
  };
  await forge(child.id, grandchild.id);
  await forge(stranger.id, root.id);
  const { kernel } = await createTestKernel({ tools: TOOLS, store, random: nextRandom() });
  for (const { token } of [child, grandchild, stranger]) {
    assert.equal(codeOf(await kernel.callInProcess({ token, tool: "echo", input: 1 })), "SESSION_UNKNOWN");
  }
  assert.equal(codeOf(await kernel.callInProcess({ token: root.token, tool: "echo", input: 1 })), "success");
});

test("a session cannot name its child as another agent, but an administrator can", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open({ agent: "writer" });
  for (const own of [{ token: root.token }, { sessionId: root.id, isOwn: true }]) {
    assert.deepEqual((await refusal(at, { ...own, agent: "deployer" })).fields, ["agent"]);
    const { session } = await at.kernel.delegateLease({ ...own, agent: "writer" });
    assert.equal(session.session.agent, "writer");
  }
  const { session } = await at.kernel.delegateLease({ sessionId: root.id, agent: "deployer" });
  assert.equal(session.session.agent, "deployer");
});

test("a child is a session of its own: token, chain, agent, directory and seed, in its parent's workspace", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open({ tenant: "t", user: "u", agent: "lead", workingDirectory: "/workspace/a" });
  const seed = new Uint8Array(32).fill(7);
  const { session: facts, token } = await at.kernel.delegateLease({
    sessionId: root.id,
    agent: "helper",
    workingDirectory: "/workspace/b",
    seed,
    labels: ["own"],
  });
  const { session, lease } = facts;
  const parent = await at.kernel.getSession(root.id);
  assert.equal(session.parentSessionId, root.id);
  assert.equal(lease.parentId, parent?.lease.id);
  assert.deepEqual(
    [session.tenant, session.user, session.agent, session.workspace, session.workingDirectory, session.labels],
    ["t", "u", "helper", "/workspace", "/workspace/b", ["own"]],
  );
  assert.deepEqual(session.seed, Buffer.from(seed));
  const plain = await at.kernel.delegateLease({ sessionId: session.id });
  assert.deepEqual([plain.session.session.agent, plain.session.session.workingDirectory], ["helper", "/workspace/b"]);
  assert.notDeepEqual(plain.session.session.seed, session.seed);
  assert.equal((await at.kernel.authenticate(token)).session.id, session.id);
  const [opening] = await at.records(session.id);
  assert.deepEqual(
    opening?.entries.map(({ kind }) => kind.case),
    ["sessionOpened", "leaseDelegated", "labelsAdopted"],
  );
  const delegated = opening?.entries[1]?.kind;
  assert.ok(delegated?.case === "leaseDelegated");
  assert.deepEqual([delegated.value.leaseId, delegated.value.parentLeaseId], [lease.id, lease.parentId]);
  await verifyStore(at.store);
});

test("a child gets by default what the parent may delegate, for as long, and may delegate no more than it may use", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open({
    lease: { tool_patterns: ["echo", "hash"], capabilities: [IN_WORKSPACE], delegable: { tool_patterns: ["hash"] } },
  });
  const { session } = await at.kernel.delegateLease({ token: root.token });
  const parent = await at.kernel.getSession(root.id);
  assert.deepEqual(session.lease.toolPatterns, ["hash"]);
  assert.deepEqual(session.lease.capabilities, [IN_WORKSPACE]);
  assert.equal(session.lease.expiresAtMs, parent?.lease.expiresAtMs);
  assert.deepEqual(session.lease.budgets, {});
  const narrow = await delegate(at, root, { lease: { capabilities: [] } });
  const refused = await refusal(at, { token: narrow.token, lease: { capabilities: [IN_WORKSPACE] } });
  assert.deepEqual(refused.fields, ["capabilities", "delegable"]);
});

test("a parent may delegate more than it may use, and its child may delegate no more than it has", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const dispatcher = await at.open({ lease: { tool_patterns: [], delegable: { tool_patterns: ["echo", "hash"] } } });
  assert.equal(codeOf(await dispatcher.call("echo", 1)), "LEASE_SCOPE");
  const worker = await delegate(at, dispatcher, { lease: { tool_patterns: ["echo"] } });
  assert.equal(codeOf(await worker.call("echo", 1)), "success");
  assert.equal(codeOf(await worker.call("hash", 1)), "LEASE_SCOPE");
  const refused = await refusal(at, { token: worker.token, lease: { tool_patterns: ["hash"] } });
  assert.deepEqual(refused.fields, ["tool_patterns", "delegable"]);
});

test("a child has at least its parent's labels, including later ones, and after a restart", async () => {
  const store = createMemoryStore();
  const at = await createTestKernel({ tools: TOOLS, store });
  const { kernel } = at;
  const labelsOf = async (id: string) => (await kernel.getSession(id))?.session.labels;
  const root = await at.open();
  const early = await delegate(at, root, { labels: ["own"] });
  const chunks = (async function* () {
    yield Buffer.from("from the web");
  })();
  const put = await kernel.putContent({ sessionId: root.id, door: "test", labels: ["untrusted"], chunks });
  await kernel.getContent(root.id, put.hash, 0, 100);
  const late = await delegate(at, root);
  const below = await delegate(at, early);
  for (const [id, labels] of [
    [early.id, ["own", "untrusted"]],
    [late.id, ["untrusted"]],
    [below.id, ["own", "untrusted"]],
  ] as const) {
    assert.deepEqual(await labelsOf(id), labels);
  }
  const next = await createTestKernel({ tools: TOOLS, store, random: nextRandom() });
  assert.deepEqual((await next.kernel.getSession(below.id))?.session.labels, ["own", "untrusted"]);
  assert.deepEqual((await next.kernel.getSession(early.id))?.session.labels, ["own", "untrusted"]);
});

test("children of an expired parent have no rights", async () => {
  const at = await createTestKernel({ tools: TOOLS });
  const root = await at.open({ lease: { ttl_ms: 5000 } });
  const child = await delegate(at, root);
  const brief = await delegate(at, child, { lease: { ttl_ms: 1000 } });
  at.clock.advance(1000);
  assert.equal(codeOf(await brief.call("echo", 1)), "LEASE_EXPIRED");
  assert.equal(codeOf(await child.call("echo", 1)), "success");
  at.clock.advance(4000);
  assert.equal(codeOf(await child.call("echo", 1)), "LEASE_EXPIRED");
  assert.equal((await refusal(at, { token: child.token })).code, "LEASE_EXPIRED");
  const { lease } = (await at.kernel.getSession(child.id)) ?? assert.fail();
  assert.equal((await at.kernel.getLease(lease.id)).state, "expired");
});

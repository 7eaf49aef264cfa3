import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, type JsonValue, ProofSchema, type RecordMessage, toHex } from "@narthex/contracts";
import {
  createCountingTool,
  createTestKernel,
  createTestPolicy,
  createTestRandom,
  echoTool,
  permitAll,
} from "@narthex/testkit";
import { createNoPolicy } from "../../policy/create-policy.ts";
import type { Policy } from "../../ports.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type GrantedCall, verifyGrant } from "../grant/grant.ts";
import { type PermittedCall, verifyPermitted } from "./decide.ts";

async function denial(result: Promise<{ response: { result: { case: string | undefined; value?: unknown } } }>) {
  const { response } = await result;
  assert.equal(response.result.case, "denied");
  return response.result.value as { rationaleCode: string; ruleId: string; message: string; proofHash: Uint8Array };
}

test("rejects a forged permitted call at run time", () => {
  assert.throws(() => verifyPermitted({ tier: "read_only" } as unknown as PermittedCall), TypeError);
});

test("rejects a forged grant at run time", () => {
  assert.throws(() => verifyGrant({ grant: { callNumber: 1 } } as unknown as GrantedCall), TypeError);
});

test("without a policy in force every call is denied with the reason", async () => {
  const { open } = await createTestKernel({ tools: [echoTool], policy: createNoPolicy("no rules") });
  const denied = await denial((await open()).call("echo", 1));
  assert.equal(denied.rationaleCode, "POLICY_MISSING");
});

test("a call that matches no rule is denied, with a proof", async () => {
  const { open, kernel } = await createTestKernel({
    tools: [echoTool],
    policy: createTestPolicy([{ id: "other", action: "other" }], [echoTool]),
  });
  const session = await open();
  const denied = await denial(session.call("echo", 1));
  assert.equal(denied.rationaleCode, "NO_MATCHING_RULE");
  assert.equal(denied.ruleId, "kernel:decide");
  const reading = await kernel.readAnyContent(denied.proofHash, 0, 0);
  const proof = fromBinary(ProofSchema, Buffer.concat(await Array.fromAsync(reading.chunks)));
  assert.equal(proof.allowed, false);
  assert.equal(toHex(proof.policyHash).length, 64);
});

test("the same inputs give the same proof, byte for byte", async () => {
  const prove = async (seed: string, input: JsonValue) => {
    const { open } = await createTestKernel({ tools: [echoTool], random: createTestRandom(seed) });
    return (await (await open()).call("echo", input)).proof;
  };
  const proof = await prove("one", { a: 1 });
  assert.ok(proof !== undefined && proof.length > 0);
  assert.deepEqual(await prove("one", { a: 1 }), proof);
  assert.notDeepEqual(await prove("one", { a: 2 }), proof);
});

test("a tool outside the lease is LEASE_SCOPE", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open({ lease: { tool_patterns: ["hash"] } });
  assert.equal((await denial(session.call("echo", 1))).rationaleCode, "LEASE_SCOPE");
});

test("a tier above the lease's is TIER_NOT_ALLOWED", async () => {
  const { open } = await createTestKernel({ tools: [createCountingTool().tool] });
  const session = await open({ lease: { highest_tier: "read_only" } });
  assert.equal((await denial(session.call("count", 1))).rationaleCode, "TIER_NOT_ALLOWED");
});

test("an expired lease is LEASE_EXPIRED, and so is one that has not begun", async () => {
  const { open, clock } = await createTestKernel({ tools: [echoTool] });
  const brief = await open({ lease: { ttl_ms: 1000 } });
  const later = await open({ lease: { not_before_ms: clock.nowMs() + 5000 } });
  clock.advance(2000);
  assert.equal((await denial(brief.call("echo", 1))).rationaleCode, "LEASE_EXPIRED");
  assert.equal((await denial(later.call("echo", 1))).rationaleCode, "LEASE_EXPIRED");
});

test("a missing capability that the arguments need is CAPABILITY_MISSING, by name", async () => {
  const reader = defineTool({
    name: "reader",
    description: "Reads a path.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const,
    effects: ["fs_read"],
    tier: "read_only",
    capabilities: [{ kind: "fs_read", prefixes: [] }],
    needs: (input) => [{ kind: "fs_read", prefixes: [input.path] }],
    run: () => ({}),
  });
  const { open } = await createTestKernel({ tools: [reader] });
  const session = await open();
  assert.equal((await session.call("reader", { path: "/workspace/a" })).status, "success");
  const denied = await denial(session.call("reader", { path: "/workspace2/a" }));
  assert.equal(denied.rationaleCode, "CAPABILITY_MISSING");
  assert.match(denied.message, /fs_read \/workspace2\/a/);
});

test("a call that exceeds its tool's bounds is BOUNDS_EXCEEDED, and explained as such", async () => {
  let runs = 0;
  const patient = defineTool({
    name: "patient",
    description: "Waits.",
    inputSchema: { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] } as const,
    bounds: { timeoutMs: 1000 },
    narrow: ({ ms }) => ({ timeoutMs: ms }),
    run: () => ++runs,
  });
  const { open, kernel } = await createTestKernel({ tools: [patient] });
  const session = await open();
  assert.equal((await session.call("patient", { ms: 1000 })).status, "success");
  const denied = await denial(session.call("patient", { ms: 1001 }));
  assert.equal(denied.rationaleCode, "BOUNDS_EXCEEDED");
  assert.equal(denied.message, "the call asks for 1001 of timeout_ms; `patient` has at most 1000");
  assert.equal(runs, 1);
  const explained = await kernel.explainCall({ sessionId: session.id, tool: "patient", input: { ms: 1001 } });
  assert.deepEqual([explained.answer, explained.code], ["deny", "BOUNDS_EXCEEDED"]);
});

test("an exhausted budget is BUDGET_EXCEEDED, and a hundred parallel calls never overspend", async () => {
  const counting = createCountingTool();
  const { open, kernel } = await createTestKernel({ tools: [counting.tool] });
  const session = await open({ lease: { budgets: { calls: 10 } } });
  const results = await Promise.all(Array.from({ length: 100 }, () => session.call("count", {})));
  assert.equal(counting.count(), 10);
  assert.equal(results.filter((result) => result.status === "success").length, 10);
  assert.equal((await denial(session.call("count", {}))).rationaleCode, "BUDGET_EXCEEDED");
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 0 });
});

/** What of each decision the ledger says. */
async function decisions(records: readonly RecordMessage[]) {
  return records.flatMap(({ entries }) =>
    entries.flatMap(({ kind }) =>
      kind.case === "policyDecision" ? [[kind.value.allowed, kind.value.rationaleCode, kind.value.observedOnly]] : [],
    ),
  );
}

test("observe mode records what rules would deny, lets it run, and asks no person", async () => {
  const counting = createCountingTool();
  const rules = [{ id: "asks", action: "count", approve: "human" }] as const;
  const { open, records } = await createTestKernel({
    tools: [echoTool, counting.tool],
    policy: createTestPolicy(rules, [echoTool, counting.tool]),
    policyMode: "observe",
  });
  const session = await open();
  assert.equal((await session.call("echo", 1)).status, "success");
  assert.equal((await session.call("count", {})).status, "success");
  assert.deepEqual(await decisions(await records(session.id)), [
    [false, "NO_MATCHING_RULE", true],
    [true, "", true],
  ]);
  const [loaded] = (await records("system")).flatMap(({ entries }) =>
    entries.flatMap(({ kind }) => (kind.case === "policyLoaded" ? [kind.value.mode] : [])),
  );
  assert.equal(loaded, "observe");
});

test("observe mode still denies on a policy error, a lease violation and a missing policy", async () => {
  const when = { ".": { left: { Var: "context" }, attr: "nothing" } };
  const tools = [echoTool];
  const broken = createTestPolicy([{ id: "broken", action: "echo", when }], tools);
  const codeWith = async (policy: Policy, lease = {}) => {
    const { open } = await createTestKernel({ tools, policy, policyMode: "observe" });
    return (await denial((await open({ lease })).call("echo", 1))).rationaleCode;
  };
  assert.equal(await codeWith(broken), "POLICY_ERROR");
  assert.equal(await codeWith(createNoPolicy("no rules")), "POLICY_MISSING");
  assert.equal(await codeWith(permitAll(tools), { tool_patterns: ["hash"] }), "LEASE_SCOPE");
});

test("each path of a call is evaluated, and one forbidden path forbids the call", async () => {
  const mover = defineTool({
    name: "mover",
    description: "Moves.",
    inputSchema: { type: "object", properties: { from: { type: "string" }, to: { type: "string" } } } as const,
    effects: ["fs_write"],
    capabilities: [{ kind: "fs_write", prefixes: [] }],
    needs: ({ from, to }) => [{ kind: "fs_write", prefixes: [`/workspace/${from}`, `/workspace/${to}`] }],
    run: () => null,
  });
  const inDocs = {
    like: { left: { ".": { left: { Var: "context" }, attr: "path" } }, pattern: [{ Literal: "docs/" }, "Wildcard"] },
  };
  const { open } = await createTestKernel({
    tools: [mover],
    policy: createTestPolicy([{ id: "docs", action: "mover", when: inDocs }], [mover]),
  });
  const session = await open();
  assert.equal((await session.call("mover", { from: "docs/a", to: "docs/b" })).status, "success");
  for (const [from, to] of [
    ["docs/a", "b"],
    ["a", "docs/b"],
    ["docs", "docs/b"],
  ] as const) {
    const denied = await denial(session.call("mover", { from, to }));
    assert.equal(denied.rationaleCode, "NO_MATCHING_RULE", `${from} to ${to}`);
  }
});

test("a rule's own code and message reach the caller", async () => {
  const rules = [
    { id: "all" },
    { id: "friday", action: "echo", effect: "forbid", rationale: "FREEZE", message: "not on Fridays" },
  ] as const;
  const { open } = await createTestKernel({ tools: [echoTool], policy: createTestPolicy(rules, [echoTool]) });
  const denied = await denial((await open()).call("echo", 1));
  assert.deepEqual([denied.rationaleCode, denied.ruleId, denied.message], ["FREEZE", "friday", "not on Fridays"]);
});

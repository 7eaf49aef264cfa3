import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, ProofSchema, toHex } from "@narthex/contracts";
import { createCountingTool, createTestKernel, echoTool, permitAll } from "@narthex/testkit";
import { createAllowListPolicy } from "../../policy/allow-list-policy.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type GrantedCall, verifyGrant } from "../grant/grant.ts";
import { type PermittedCall, verifyPermitted } from "./decide.ts";

async function denial(result: Promise<{ response: { result: { case: string | undefined; value?: unknown } } }>) {
  const { response } = await result;
  assert.equal(response.result.case, "denied");
  return response.result.value as { rationaleCode: string; ruleId: string; message: string; proofHash: Uint8Array };
}

test("a forged permitted call is refused at run time", () => {
  assert.throws(() => verifyPermitted({ tier: "read_only" } as unknown as PermittedCall), TypeError);
});

test("a forged grant is refused at run time", () => {
  assert.throws(() => verifyGrant({ grant: { callNumber: 1 } } as unknown as GrantedCall), TypeError);
});

test("no policy in force denies every call and says why", async () => {
  const { open } = await createTestKernel({ tools: [echoTool], policy: createAllowListPolicy([]) });
  const denied = await denial((await open()).call("echo", 1));
  assert.equal(denied.rationaleCode, "POLICY_MISSING");
});

test("nothing matched means denied, with a proof", async () => {
  const { open, kernel } = await createTestKernel({
    tools: [echoTool],
    policy: permitAll([defineTool({ ...echoTool, name: "other" })]),
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
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const first = await session.call("echo", { a: 1 });
  const second = await session.call("echo", { a: 1 });
  assert.deepEqual(first.proof, second.proof);
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

test("a right that the arguments need and the lease lacks is CAPABILITY_MISSING, by name", async () => {
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

test("a spent budget is BUDGET_EXCEEDED, and a hundred parallel calls never overspend", async () => {
  const counting = createCountingTool();
  const { open, kernel } = await createTestKernel({ tools: [counting.tool] });
  const session = await open({ lease: { budgets: { calls: 10 } } });
  const results = await Promise.all(Array.from({ length: 100 }, () => session.call("count", {})));
  assert.equal(counting.count(), 10);
  assert.equal(results.filter((result) => result.status === "success").length, 10);
  assert.equal((await denial(session.call("count", {}))).rationaleCode, "BUDGET_EXCEEDED");
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, { calls: 0 });
});

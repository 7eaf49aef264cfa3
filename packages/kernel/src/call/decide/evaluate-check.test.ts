import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel, createTestPolicy, type TestRule } from "@narthex/testkit";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";

const HOST = "db.example.com";

async function kernelWith(rule: Omit<TestRule, "when">) {
  let runs = 0;
  const tool = defineTool({
    name: "connect",
    description: "Connects.",
    inputSchema: { type: "object", properties: { host: { type: "string" } }, required: ["host"] } as const,
    run: () => ({ runs: ++runs }),
  });
  const host = { ".": { left: { ".": { left: { Var: "context" }, attr: "input" } }, attr: "host" } };
  const when = { "==": { left: host, right: { Value: HOST } } };
  const made = await createTestKernel({
    tools: [tool],
    policy: createTestPolicy(
      [
        { id: "all", approve: "none" },
        { ...rule, when },
      ],
      [tool],
    ),
    redactors: [{ secrets: [HOST, "approved"], replacement: "[from the vault]" }],
    settings: { approvalWaitMs: 1 },
  });
  made.kernel.openApprovalDoor();
  return { ...made, session: await made.open(), runs: () => runs };
}

test("rules match text that the record redacts", async () => {
  const { session, runs, store } = await kernelWith({ id: "not-there", effect: "forbid" });
  const { response } = await session.call("connect", { host: HOST });
  assert.equal(response.result.case === "denied" && response.result.value.ruleId, "not-there");
  assert.equal(runs(), 0);
  assert.equal((await session.call("connect", { host: "www.example.com" })).status, "success");
  await verifyStore(store);
});

test("a person is shown text that the record redacts", async () => {
  const { session, runs, store, kernel } = await kernelWith({ id: "ask-there", approve: "always" });
  const { response } = await session.call("connect", { host: HOST });
  assert.equal(response.result.case === "error" && response.result.value.errorCode, "APPROVAL_PENDING");
  assert.equal(runs(), 0);
  const { approvalId } = kernel.listApprovals().open[0] ?? assert.fail("no approval was asked for");
  await kernel.resolveApproval({ approvalId, answer: "once", approver: "ann", door: "cli" });
  assert.equal((await session.call("connect", { host: HOST })).status, "success");
  assert.equal(runs(), 1);
  await verifyStore(store);
});

test("a ledger verifies when a secret's text names a rule, a session's agent or a tool's argument", async () => {
  const { session, open, store } = await kernelWith({ id: `not-${HOST}`, effect: "forbid" });
  const { response } = await session.call("connect", { host: HOST });
  assert.equal(response.result.case === "denied" && response.result.value.ruleId, `not-${HOST}`);
  const named = await open({ agent: HOST });
  assert.equal((await named.call("connect", { host: "www.example.com" })).status, "success");
  await verifyStore(store);
});

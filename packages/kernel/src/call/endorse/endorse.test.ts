import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountingTool, createTestKernel, createTestPolicy, permitAll } from "@narthex/testkit";
import type { ApprovalDecision, ApprovalRequest } from "../../approval/approval.ts";
import type { CallResult } from "../../kernel.ts";
import { createReloadablePolicy } from "../../policy/reloadable-policy.ts";
import { verifyStore } from "../../testing/verify-store.ts";

const codeOf = ({ response: { result } }: CallResult) =>
  result.case === "denied"
    ? result.value.rationaleCode
    : result.case === "error"
      ? result.value.errorCode
      : result.case;

async function asking(
  answer: (question: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>,
  settings = {},
) {
  const counting = createCountingTool();
  const policy = createReloadablePolicy(permitAll([counting.tool], "human"));
  const questions: ApprovalRequest[] = [];
  const approver = {
    door: "test",
    ask: (question: ApprovalRequest, signal: AbortSignal) => {
      questions.push(question);
      return answer(question, signal);
    },
  };
  const made = await createTestKernel({ tools: [counting.tool], policy, approver, settings });
  return { ...made, counting, policy, questions };
}

test("a call that needs approval is denied at once if no approver is available", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({
    tools: [counting.tool],
    policy: permitAll([counting.tool], "human"),
  });
  assert.equal(codeOf(await (await open()).call("count", {})), "APPROVAL_UNAVAILABLE");
  assert.equal(counting.count(), 0);
});

test("a denial, an invalid decision and a throwing approver all deny", async () => {
  const answers: (() => Promise<ApprovalDecision>)[] = [
    async () => ({ approved: false, approver: "ann" }),
    async () => "yes" as unknown as ApprovalDecision,
    async () => ({ approved: "true" as unknown as boolean, approver: "ann" }),
    () => Promise.reject(new Error("no terminal")),
  ];
  for (const answer of answers) {
    const { open, counting } = await asking(answer);
    assert.equal(codeOf(await (await open()).call("count", {})), "APPROVAL_DENIED");
    assert.equal(counting.count(), 0);
  }
});

test("a missing decision denies at the time-out", async () => {
  const { open } = await asking(() => new Promise(() => undefined), { approvalExpiryMs: 5 });
  assert.equal(codeOf(await (await open()).call("count", {})), "APPROVAL_TIMEOUT");
});

test("a policy change during the approval decides the call again", async () => {
  let change = (): void => undefined;
  const { open, policy, counting } = await asking(async () => {
    change();
    return { approved: true, approver: "ann" };
  });
  change = () => policy.replace(createTestPolicy([{ id: "x", action: "other" }], [counting.tool]));
  assert.equal(codeOf(await (await open()).call("count", {})), "NO_MATCHING_RULE");
  assert.equal(counting.count(), 0);
});

test("an approval permits one call only", async () => {
  const { open, questions, counting } = await asking(async () => ({ approved: true, approver: "ann" }));
  const session = await open();
  await session.call("count", {});
  await session.call("count", {});
  assert.equal(questions.length, 2);
  assert.equal(counting.count(), 2);
});

test("an approval runs the call; the request is durable first, and the ledger names door and approver", async () => {
  const { open, records, store, counting } = await asking(async (question) => {
    const stored = await store.readRecords({ limit: 100 });
    assert.ok(stored.some((record) => Buffer.from(record.record).includes(question.approvalId)));
    return { approved: true, approver: "ann" };
  });
  const session = await open();
  assert.equal((await session.call("count", { a: 1 })).status, "success");
  assert.equal(counting.count(), 1);
  const entries = (await records(session.id)).slice(1).map((record) => record.entries.map((entry) => entry.kind.case));
  assert.deepEqual(entries, [
    ["toolInvoked", "capabilityCheck", "policyDecision", "approvalRequested"],
    ["approvalResolved"],
    ["approvalResolved", "capabilityCheck", "policyDecision", "toolStarted"],
    ["toolCompleted"],
  ]);
  for (const index of [2, 3]) {
    const resolved = (await records(session.id))[index]?.entries[0]?.kind;
    assert.ok(resolved?.case === "approvalResolved");
    const { door, approver, scope } = resolved.value;
    assert.deepEqual([door, approver, scope], ["test", "ann", "once"]);
  }
  await verifyStore(store);
});

test("a waiting caller is told to come back, and the same call joins the pending request", async () => {
  const answer = Promise.withResolvers<ApprovalDecision>();
  const { open, questions, counting } = await asking(() => answer.promise, { approvalWaitMs: 5 });
  const session = await open();
  const pending = await session.call("count", {}, { requestId: "r" });
  assert.equal(codeOf(pending), "APPROVAL_PENDING");
  assert.ok(pending.response.result.case === "error" && pending.response.result.value.approvalId.startsWith("apr_"));
  answer.resolve({ approved: true, approver: "ann" });
  assert.equal((await session.call("count", {}, { requestId: "r" })).status, "success");
  assert.equal(questions.length, 1);
  assert.equal(counting.count(), 1);
});

test("an approval survives a policy change that does not concern the call", async () => {
  let change = (): void => undefined;
  const { open, policy, counting, store } = await asking(async () => {
    change();
    return { approved: true, approver: "ann" };
  });
  const rules = [
    { id: "permit-count", action: "count", approve: "human" },
    { id: "x", action: "other" },
  ] as const;
  change = () => policy.replace(createTestPolicy(rules, [counting.tool]));
  assert.equal(codeOf(await (await open()).call("count", {})), "success");
  assert.equal(counting.count(), 1);
  await verifyStore(store);
});

test("a policy that asks by another rule, or at another door, voids the approval", async () => {
  for (const rule of [
    { id: "other", action: "count", approve: "human" },
    { id: "permit-count", action: "count", approve: "console" },
  ] as const) {
    let change = (): void => undefined;
    const { open, policy, counting } = await asking(async () => {
      change();
      return { approved: true, approver: "ann" };
    });
    change = () => policy.replace(createTestPolicy([rule], [counting.tool]));
    assert.equal(codeOf(await (await open()).call("count", {})), "APPROVAL_DENIED");
    assert.equal(counting.count(), 0);
  }
});

test("two equal calls that are both approved both run", async () => {
  const { open, counting } = await asking(async () => ({ approved: true, approver: "ann" }));
  const session = await open();
  const results = await Promise.all(Array.from({ length: 8 }, () => session.call("count", {})));
  assert.deepEqual(results.map(codeOf), Array(8).fill("success"));
  assert.equal(counting.count(), 8);
});

test("a call with two waiting callers is asked about once and responds to both", async () => {
  const answer = Promise.withResolvers<ApprovalDecision>();
  const { open, questions, counting, store } = await asking(() => answer.promise);
  const session = await open();
  const calls = [1, 2, 3].map(() => session.call("count", {}, { requestId: "r" }));
  await turn();
  answer.resolve({ approved: true, approver: "ann" });
  assert.deepEqual((await Promise.all(calls)).map(codeOf), Array(3).fill("success"));
  assert.equal(questions.length, 1);
  assert.equal(counting.count(), 1);
  await verifyStore(store);
});

test("runs nothing and withdraws the request if the session closes or the caller leaves during the approval", async () => {
  for (const end of ["session", "caller"] as const) {
    let asked: AbortSignal | undefined;
    const { open, kernel, counting, store } = await asking((_, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    });
    const session = await open();
    const caller = new AbortController();
    const call = session.call("count", {}, { signal: caller.signal });
    await turn();
    if (end === "session") await kernel.closeSession(session.id);
    else caller.abort();
    assert.equal(codeOf(await call), "CANCELLED");
    assert.equal(asked?.aborted, true);
    assert.equal(counting.count(), 0);
    await verifyStore(store);
  }
});

test("a caller's deadline ends its wait for a person", async () => {
  const { open, counting } = await asking(() => new Promise(() => undefined));
  assert.equal(codeOf(await (await open()).call("count", {}, { timeoutMs: 5 })), "APPROVAL_PENDING");
  assert.equal(counting.count(), 0);
});

test("the ledger holds the approval request: the commitment to the input, definition and policy", async () => {
  const { open, records } = await asking(async () => ({ approved: true, approver: "ann" }));
  const session = await open();
  await session.call("count", { a: 1 });
  const [invoked, , , requested] = (await records(session.id))[1]?.entries.map(({ kind }) => kind) ?? [];
  assert.ok(invoked?.case === "toolInvoked" && requested?.case === "approvalRequested");
  assert.deepEqual(requested.value.inputCommitment, invoked.value.inputCommitment);
  assert.deepEqual(requested.value.definitionHash, invoked.value.definitionHash);
  assert.equal(requested.value.policyHash.length, 32);
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

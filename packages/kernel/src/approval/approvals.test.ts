import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createTestRandom } from "@narthex/testkit";
import type { Approver } from "../ports.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { ApprovalSubject } from "./approval-subject.ts";
import { type ApprovalOutcome, type Approvals, createApprovals } from "./approvals.ts";

mock.timers.enable({ apis: ["setTimeout"] });

const EXPIRY_MS = 1000;
const WAIT_MS = 100;
const YES = { approved: true, approver: "ann" };

const subject: ApprovalSubject = {
  kind: "human",
  sessionId: "ses_a",
  agent: "agent",
  user: "user",
  workspace: "/w",
  tool: "push@1.0.0",
  definitionHash: new Uint8Array(32).fill(1),
  input: { a: 1 },
  inputDigest: new Uint8Array(32).fill(2),
  policyHash: new Uint8Array(32).fill(3),
  ruleIds: ["rule"],
};

interface Asked {
  readonly question: ApprovalQuestion;
  readonly signal: AbortSignal;
  answer(answer: ApprovalAnswer): Promise<void>;
}

function create(door: string | undefined = "test") {
  let nowMs = 1_000_000;
  const asked: Asked[] = [];
  const approver: Approver = {
    door,
    ask(question, signal) {
      const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
      const answer = async (given: ApprovalAnswer) => {
        resolve(given);
        await settled();
      };
      asked.push({ question, signal, answer });
      return promise;
    },
  };
  const approvals = createApprovals({
    approver: door === "" ? undefined : approver,
    random: createTestRandom("approvals"),
    nowMs: () => nowMs,
    expiryMs: EXPIRY_MS,
    waitMs: WAIT_MS,
  });
  const pass = async (ms: number) => {
    nowMs += ms;
    mock.timers.tick(ms);
    await settled();
  };
  return { approvals, asked, pass };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

async function ask(
  approvals: Approvals,
  about: Partial<ApprovalSubject> = {},
  wait: { signal?: AbortSignal; waitMs?: number } = {},
) {
  const asking = approvals.ask(
    { ...subject, ...about },
    { signal: wait.signal, waitMs: wait.waitMs ?? Number.POSITIVE_INFINITY, requested: async () => undefined },
  );
  await settled();
  return { answer: asking };
}

const last = (asked: readonly Asked[]): Asked => asked.at(-1) ?? assert.fail("nobody was asked");

async function outcomeOf(asking: Promise<ApprovalOutcome | undefined>): Promise<ApprovalOutcome> {
  return (await asking) ?? assert.fail("nobody was asked");
}

test("a rule that demands the console is answered by no other door", async () => {
  const { approvals, asked } = create("terminal");
  assert.equal(approvals.isAvailable("human"), true);
  assert.equal(approvals.isAvailable("console"), false);
  assert.equal(await (await ask(approvals, { kind: "console" })).answer, undefined);
  assert.equal(asked.length, 0);
  assert.equal(create("console").approvals.isAvailable("console"), true);
  assert.equal(create("").approvals.isAvailable("human"), false);
});

test("an answer that only looks like a yes is a no", async () => {
  const answers: unknown[] = [
    "approved",
    "withdrawn",
    true,
    1,
    null,
    undefined,
    [],
    { approved: 1 },
    { approved: "true" },
  ];
  for (const answer of answers) {
    const { approvals, asked } = create();
    const asking = await ask(approvals);
    await last(asked).answer(answer as ApprovalAnswer);
    assert.equal((await outcomeOf(asking.answer)).answer, "denied");
  }
});

test("a yes is good for exactly what was asked, and once", async () => {
  const changed: readonly Partial<ApprovalSubject>[] = [
    { sessionId: "ses_b" },
    { tool: "push@1.0.1" },
    { kind: "console" },
    { definitionHash: new Uint8Array(32).fill(9) },
    { inputDigest: new Uint8Array(32).fill(9) },
    { ruleIds: ["other"] },
  ];
  for (const change of [...changed, {}]) {
    const { approvals, asked } = create();
    const asking = await ask(approvals);
    await last(asked).answer(YES);
    const { approvalId } = await outcomeOf(asking.answer);
    assert.equal(approvals.redeem("apr_other", subject), false);
    assert.equal(approvals.redeem(approvalId, { ...subject, ...change }), Object.keys(change).length === 0);
    assert.equal(approvals.redeem(approvalId, subject), false);
  }
});

test("a changed policy that answers the same leaves an approval good", async () => {
  const { approvals, asked } = create();
  const asking = await ask(approvals);
  await last(asked).answer(YES);
  const { approvalId } = await outcomeOf(asking.answer);
  assert.equal(approvals.redeem(approvalId, { ...subject, policyHash: new Uint8Array(32).fill(8) }), true);
});

test("two equal calls are two questions, and each yes is its own", async () => {
  const { approvals, asked } = create();
  const calls = [await ask(approvals), await ask(approvals)];
  assert.equal(asked.length, 2);
  for (const { answer } of asked) await answer(YES);
  for (const { answer } of calls) assert.equal(approvals.redeem((await outcomeOf(answer)).approvalId, subject), true);
});

test("a caller kept waiting is told so, and joins the same question when it comes back", async () => {
  const { approvals, asked, pass } = create();
  const first = await ask(approvals);
  await pass(WAIT_MS);
  const { answer, approvalId } = await outcomeOf(first.answer);
  assert.equal(answer, "pending");
  const again = await ask(approvals);
  await last(asked).answer(YES);
  assert.equal((await outcomeOf(again.answer)).approvalId, approvalId);
  assert.equal(asked.length, 1);
});

test("an answer that came while nobody waited is there for who comes back in time, and for nobody later", async () => {
  for (const [comesAfterMs, expected] of [
    [EXPIRY_MS / 2, "approved"],
    [EXPIRY_MS, "another question"],
  ] as const) {
    const { approvals, asked, pass } = create();
    await ask(approvals);
    await pass(WAIT_MS);
    await last(asked).answer(YES);
    await pass(comesAfterMs);
    const again = await ask(approvals);
    if (expected === "approved") assert.equal((await outcomeOf(again.answer)).answer, "approved");
    else assert.equal(asked.length, 2);
  }
});

test("a yes lapses when its time is over, however late it was given", async () => {
  const { approvals, asked, pass } = create();
  await ask(approvals);
  await pass(WAIT_MS);
  const again = await ask(approvals);
  await pass(WAIT_MS - 1);
  await last(asked).answer(YES);
  const { approvalId } = await outcomeOf(again.answer);
  await pass(EXPIRY_MS);
  assert.equal(approvals.redeem(approvalId, subject), false);
});

test("nobody answering is a time-out, and the door is told", async () => {
  const { approvals, asked, pass } = create();
  await ask(approvals);
  await pass(WAIT_MS);
  await pass(EXPIRY_MS - WAIT_MS - 10);
  const again = await ask(approvals);
  await pass(10);
  assert.equal((await outcomeOf(again.answer)).answer, "timed_out");
  assert.equal(last(asked).signal.aborted, true);
});

test("a caller who leaves withdraws the question; one who left before is not asked for at all", async () => {
  const { approvals, asked } = create();
  const caller = new AbortController();
  const asking = await ask(approvals, {}, { signal: caller.signal });
  caller.abort();
  assert.equal((await outcomeOf(asking.answer)).answer, "withdrawn");
  assert.equal(last(asked).signal.aborted, true);
  assert.equal((await outcomeOf((await ask(approvals, {}, { signal: caller.signal })).answer)).answer, "withdrawn");
  assert.equal(asked.length, 1);
});

test("a caller's own deadline ends its wait, not the question", async () => {
  const { approvals, asked, pass } = create();
  const asking = await ask(approvals, {}, { waitMs: 10 });
  await pass(10);
  assert.equal((await outcomeOf(asking.answer)).answer, "pending");
  assert.equal(last(asked).signal.aborted, false);
});

test("one session cannot use up what people of others can be asked", async () => {
  const { approvals, asked } = create();
  for (let i = 0; i < 100; i++) await ask(approvals, { inputDigest: new Uint8Array(32).fill(i) });
  const ofOne = asked.length;
  assert.ok(ofOne < 100);
  await ask(approvals, { sessionId: "ses_b" });
  assert.equal(asked.length, ofOne + 1);
});

test("a question that could not be made durable is asked of nobody and takes no place", async () => {
  const { approvals, asked } = create();
  const wait = { signal: undefined, waitMs: 1, requested: () => Promise.reject(new Error("the disk is gone")) };
  for (let i = 0; i < 100; i++) await assert.rejects(approvals.ask(subject, wait), /disk/);
  assert.equal(asked.length, 0);
  await ask(approvals);
  assert.equal(asked.length, 1);
});

test("closing withdraws what is open", async () => {
  const { approvals, asked } = create();
  const asking = await ask(approvals);
  approvals.close();
  assert.equal(last(asked).signal.aborted, true);
  assert.equal((await outcomeOf(asking.answer)).answer, "withdrawn");
});

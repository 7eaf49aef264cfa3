import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { ApprovalSubject } from "./approval-subject.ts";
import type { ApprovalDecision } from "./approval.ts";
import {
  EXPIRY_MS,
  WAIT_MS,
  APPROVED,
  subject,
  create,
  ask,
  last,
  openIds,
  onlyId,
  answering,
  isCode,
  outcomeOf,
} from "./testing/test-approvals.ts";

test("a request that a rule restricts to the console is decided by no other door", async () => {
  const desk = create({ door: "console" });
  const { approvals, asked } = desk;
  assert.equal(approvals.isAvailable("human"), true);
  assert.equal(approvals.isAvailable("console"), false, "a callback is no console, whatever it calls itself");
  assert.equal(await (await ask(desk, { kind: "console" })).answer, undefined);
  const close = approvals.openDoor();
  const asking = await ask(desk, { kind: "console" });
  assert.equal(asked.length, 0);
  const id = onlyId(approvals);
  for (const door of ["wire", "terminal", "test", "mcp", "", "Console"]) {
    await assert.rejects(approvals.resolve(answering(id, "once", { door })), isCode("APPROVAL_UNAVAILABLE"));
  }
  await approvals.resolve(answering(id, "once", { door: "console" }));
  assert.equal((await outcomeOf(asking.answer)).door, "console");
  close();
  close();
  assert.equal(approvals.isAvailable("console"), false);
  assert.equal(create({ isSilent: true }).approvals.isAvailable("human"), false);
});

test("a malformed approval denies", async () => {
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
    { approved: true, term: "always" },
    { approved: true, term: "session", words: 1 },
  ];
  for (const answer of answers) {
    const desk = create();
    const asking = await ask(desk);
    await last(desk.asked).answer(answer as ApprovalDecision);
    assert.equal((await outcomeOf(asking.answer)).status, "denied");
    assert.equal(desk.rows.size, 0);
  }
});

test("rejects a decision on an unknown, decided or expired id", async () => {
  const desk = create({ isSilent: true });
  const { approvals, pass } = desk;
  approvals.openDoor();
  await ask(desk);
  const id = onlyId(approvals);
  for (const forged of ["", "apr_", `${id} `, id.toUpperCase(), `${id.slice(0, -1)}x`, "constructor"]) {
    await assert.rejects(approvals.resolve(answering(forged)), isCode("APPROVAL_NOT_FOUND"), forged);
  }
  await approvals.resolve(answering(id, "deny"));
  await assert.rejects(approvals.resolve(answering(id)), /denied by `ann`/);
  await ask(desk, { sessionId: "ses_b" });
  const second = onlyId(approvals);
  await pass(EXPIRY_MS);
  await assert.rejects(approvals.resolve(answering(second)), /timed_out/);
  assert.equal(desk.rows.size, 0);
});

test("accepts exactly one of two concurrent decisions, and rejects the other", async () => {
  for (const order of [
    ["once", "deny"],
    ["deny", "once"],
  ] as const) {
    const desk = create();
    const { approvals, asked, drafts } = desk;
    approvals.openDoor();
    const asking = await ask(desk);
    const id = onlyId(approvals);
    const answers = order.map((answer) => approvals.resolve(answering(id, answer)));
    await last(asked).answer(APPROVED);
    const results = await Promise.allSettled(answers);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.equal((await outcomeOf(asking.answer)).status, order[0] === "once" ? "approved" : "denied");
    assert.equal(drafts.length, 1);
    assert.equal(last(asked).signal.aborted, true);
  }
});

test("an approval permits exactly the requested call, once", async () => {
  const changed: readonly Partial<ApprovalSubject>[] = [
    { sessionId: "ses_b" },
    { tool: "push@1.0.1" },
    { kind: "console" },
    { definitionHash: new Uint8Array(32).fill(9) },
    { inputDigest: new Uint8Array(32).fill(9) },
    { ruleIds: ["other"] },
    { ruleIds: ["rule", "other"] },
  ];
  for (const change of [...changed, {}]) {
    const desk = create();
    const { approvals, asked } = desk;
    const asking = await ask(desk);
    await last(asked).answer(APPROVED);
    const { approvalId } = await outcomeOf(asking.answer);
    assert.equal(approvals.consume("apr_other", subject), false);
    assert.equal(approvals.claimApproval(subject), undefined, "it is in the hands of the call that asked");
    assert.equal(approvals.consume(approvalId, { ...subject, ...change }), Object.keys(change).length === 0);
    if (Object.keys(change).length > 0) continue;
    assert.equal(approvals.consume(approvalId, subject), false);
    approvals.removeConsumed(approvalId);
    await approvals.release(approvalId);
    assert.equal(approvals.claimApproval(subject), undefined);
  }
});

test("an approval claimed by a call that failed to use it stays available for the same call, once", async () => {
  const desk = create();
  const { approvals, asked, rows } = desk;
  const asking = await ask(desk);
  await last(asked).answer(APPROVED);
  const { approvalId } = await outcomeOf(asking.answer);
  assert.equal(approvals.consume(approvalId, subject), true);
  await approvals.release(approvalId);
  assert.equal(rows.size, 1);
  assert.equal(approvals.claimApproval({ ...subject, sessionId: "ses_b" }), undefined);
  assert.equal(approvals.claimApproval({ ...subject, requestId: "another" })?.approvalId, approvalId);
  assert.equal(approvals.claimApproval(subject), undefined);
});

test("an approval is void if the call was decided differently in the meantime", async () => {
  const desk = create();
  const { approvals, asked, rows } = desk;
  const asking = await ask(desk);
  await last(asked).answer(APPROVED);
  const { approvalId } = await outcomeOf(asking.answer);
  assert.equal(approvals.consume(approvalId, { ...subject, ruleIds: ["other"] }), false);
  await approvals.release(approvalId);
  assert.equal(approvals.claimApproval(subject), undefined);
  assert.equal(rows.size, 0);
});

test("an approval stays valid under a changed policy with the same decision", async () => {
  const desk = create();
  const { approvals, asked } = desk;
  const asking = await ask(desk);
  await last(asked).answer(APPROVED);
  const { approvalId } = await outcomeOf(asking.answer);
  assert.equal(approvals.consume(approvalId, { ...subject, policyHash: new Uint8Array(32).fill(8) }), true);
});

test("two equal calls make two approval requests, and each approval permits one call", async () => {
  const desk = create();
  const { approvals, asked } = desk;
  const calls = [await ask(desk), await ask(desk)];
  assert.equal(asked.length, 2);
  for (const { answer } of asked) await answer(APPROVED);
  for (const { answer } of calls) assert.equal(approvals.consume((await outcomeOf(answer)).approvalId, subject), true);
});

test("a waiting caller is told that approval is pending, and joins the same request when it comes back", async () => {
  const desk = create();
  const { approvals, asked, pass } = desk;
  const first = await ask(desk);
  await pass(WAIT_MS);
  const { status, approvalId } = await outcomeOf(first.answer);
  assert.equal(status, "pending");
  assert.deepEqual(openIds(approvals), [approvalId]);
  const again = await ask(desk, { requestId: "another" });
  await last(asked).answer(APPROVED);
  assert.equal((await outcomeOf(again.answer)).approvalId, approvalId);
  assert.equal(asked.length, 1);
});

test("a decision made while no caller waits is kept for a caller that returns in time, then dropped", async () => {
  for (const [comesAfterMs, isThere] of [
    [EXPIRY_MS / 2, true],
    [EXPIRY_MS, false],
  ] as const) {
    const desk = create();
    const { approvals, asked, pass, rows } = desk;
    await ask(desk);
    await pass(WAIT_MS);
    await last(asked).answer(APPROVED);
    await pass(comesAfterMs);
    assert.equal(approvals.claimApproval(subject)?.status, isThere ? "approved" : undefined);
    assert.equal(rows.size, isThere ? 1 : 0);
    if (isThere) assert.equal(approvals.claimApproval(subject), undefined, "and for one call only");
  }
});

test("a denial made while no caller waits is reported once, and the next such call asks again", async () => {
  const desk = create();
  const { approvals, asked, pass } = desk;
  await ask(desk);
  await pass(WAIT_MS);
  await last(asked).answer({ approved: false, approver: "ann", reason: "not today" });
  assert.deepEqual(openIds(approvals), []);
  const told = await outcomeOf((await ask(desk)).answer);
  assert.deepEqual([told.status, told.reason, asked.length], ["denied", "not today", 1]);
  await ask(desk);
  assert.equal(asked.length, 2);
  await assert.rejects(approvals.resolve(answering(told.approvalId)), isCode("APPROVAL_NOT_FOUND"));
});

test("an approval expires at its deadline, however late it was given", async () => {
  const desk = create();
  const { approvals, asked, pass, rows } = desk;
  await ask(desk);
  await pass(WAIT_MS);
  const again = await ask(desk);
  await pass(WAIT_MS - 1);
  await last(asked).answer(APPROVED);
  const { approvalId } = await outcomeOf(again.answer);
  await pass(EXPIRY_MS);
  assert.equal(approvals.consume(approvalId, subject), false);
  await approvals.release(approvalId);
  assert.equal(rows.size, 0);
});

test("a request without a decision times out, and the door is notified", async () => {
  const desk = create();
  const { asked, pass } = desk;
  await ask(desk);
  await pass(WAIT_MS);
  await pass(EXPIRY_MS - WAIT_MS - 10);
  const again = await ask(desk);
  await pass(10);
  assert.equal((await outcomeOf(again.answer)).status, "timed_out");
  assert.equal(last(asked).signal.aborted, true);
});

test("withdraws the request of a caller that leaves, and creates none for a caller that left before", async () => {
  const desk = create();
  const { approvals, asked, rows } = desk;
  const caller = new AbortController();
  const asking = await ask(desk, {}, { signal: caller.signal });
  const id = onlyId(approvals);
  caller.abort();
  assert.equal((await outcomeOf(asking.answer)).status, "withdrawn");
  assert.equal(last(asked).signal.aborted, true);
  await assert.rejects(approvals.resolve(answering(id)), isCode("APPROVAL_NOT_FOUND"));
  assert.equal((await outcomeOf((await ask(desk, {}, { signal: caller.signal })).answer)).status, "withdrawn");
  assert.equal(asked.length, 1);
  assert.equal(rows.size, 0);
});

test("a caller's deadline ends its wait but not the approval request", async () => {
  const desk = create();
  const { asked, pass } = desk;
  const asking = await ask(desk, {}, { waitMs: 10 });
  await pass(10);
  assert.equal((await outcomeOf(asking.answer)).status, "pending");
  assert.equal(last(asked).signal.aborted, false);
});

test("one session cannot use up the pending requests of others", async () => {
  const desk = create();
  const { asked } = desk;
  for (let i = 0; i < 100; i++) await ask(desk, { inputDigest: new Uint8Array(32).fill(i) });
  const ofOne = asked.length;
  assert.ok(ofOne < 100);
  await ask(desk, { sessionId: "ses_child", inputDigest: new Uint8Array(32).fill(200) });
  assert.equal(asked.length, ofOne, "what it splits off counts with it");
  await ask(desk, { sessionId: "ses_b", rootSessionId: "ses_b" });
  assert.equal(asked.length, ofOne + 1);
});

test("keeps pending inputs whole, up to a limit per session and in total", async () => {
  const desk = create();
  const big = { inputBytes: 9 * 1024 * 1024 };
  await ask(desk, big);
  assert.equal(await (await ask(desk, { ...big, inputDigest: new Uint8Array(32) })).answer, undefined);
  for (let i = 0; i < 20; i++) await ask(desk, { ...big, sessionId: `ses_${i}`, rootSessionId: `ses_${i}` });
  assert.equal(desk.asked.length, 7);
});

test("a request that cannot be made durable is not shown and uses no slot", async () => {
  const desk = create();
  const { approvals, asked } = desk;
  const wait = { signal: undefined, waitMs: 1, requested: () => Promise.reject(new Error("the disk is gone")) };
  for (let i = 0; i < 100; i++) await assert.rejects(approvals.ask(subject, wait), /disk/);
  assert.equal(asked.length, 0);
  await ask(desk);
  assert.equal(asked.length, 1);
});

test("a decision that cannot be made durable does not count", async () => {
  const desk = create({ isSilent: true });
  const { approvals, disk } = desk;
  approvals.openDoor();
  const asking = await ask(desk);
  disk.isBroken = true;
  await assert.rejects(approvals.resolve(answering(onlyId(approvals))), /disk/);
  await assert.rejects(asking.answer, /disk/);
  assert.equal(approvals.claimApproval(subject), undefined);
});

test("closing withdraws pending requests", async () => {
  const desk = create();
  const { approvals, asked, rows } = desk;
  const asking = await ask(desk);
  await approvals.close();
  assert.equal(last(asked).signal.aborted, true);
  assert.equal((await outcomeOf(asking.answer)).status, "withdrawn");
  assert.equal(rows.size, 0);
});

test("a restart withdraws pending requests and keeps unused decisions for the same call, once", async () => {
  const desk = create({ isSilent: true });
  const { approvals, restart, store, pass, drafts, rows, keep } = desk;
  approvals.openDoor();
  await ask(desk);
  const answered = onlyId(approvals);
  await pass(WAIT_MS);
  await approvals.resolve(answering(answered));
  await ask(desk, { requestId: "asked last", sessionId: "ses_b" });
  const pending = onlyId(approvals);
  assert.equal(rows.size, 2);

  const second = restart();
  await second.recover(store);
  second.openDoor();
  const resolved = drafts.at(-1)?.entries[0];
  assert.ok(resolved?.case === "approvalResolved");
  assert.deepEqual(
    [resolved.value.approvalId, resolved.value.answer, resolved.value.door],
    [pending, "withdrawn", "kernel"],
  );
  assert.deepEqual(openIds(second), []);
  await assert.rejects(second.resolve(answering(pending)), isCode("APPROVAL_NOT_FOUND"));
  assert.equal(second.claimApproval({ ...subject, sessionId: "ses_b" }), undefined);
  assert.equal(second.claimApproval(subject)?.approvalId, answered);
  assert.equal(second.claimApproval(subject), undefined);
  assert.equal(second.consume(answered, subject), true);
  keep([second.removeConsumed(answered)]);
  assert.equal(rows.size, 0);

  const third = restart();
  await third.recover(store);
  assert.equal(third.claimApproval(subject), undefined);
});

test("an approval that expired before a restart is gone", async () => {
  const desk = create({ isSilent: true });
  const { approvals, restart, store, pass, rows } = desk;
  approvals.openDoor();
  await ask(desk);
  const id = onlyId(approvals);
  await approvals.resolve(answering(id));
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  assert.equal(rows.size, 1);
  await pass(EXPIRY_MS);
  const second = restart();
  await second.recover(store);
  assert.equal(second.claimApproval(subject), undefined);
  assert.equal(rows.size, 0);
});

test("notifies watchers of every change, beginning with the current state", async () => {
  const desk = create({ isSilent: true });
  const { approvals } = desk;
  approvals.openDoor();
  const stop = new AbortController();
  const lists = approvals.watch(stop.signal)[Symbol.asyncIterator]();
  assert.deepEqual((await lists.next()).value, { open: [], standing: [] });
  await ask(desk);
  const id = onlyId(approvals);
  assert.deepEqual((await lists.next()).value?.open[0]?.approvalId, id);
  await approvals.resolve(answering(id, "session"));
  const { value } = await lists.next();
  assert.deepEqual([value?.open, value?.standing[0]?.approvalId], [[], id]);
  stop.abort();
  assert.equal((await lists.next()).done, true);
});

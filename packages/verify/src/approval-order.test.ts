import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryPlain, LedgerBuilder } from "./testing/ledger-builder.ts";
import { appendEntries, callParts, decision, ledgerWithCall, SESSION } from "./testing/ledger-story.ts";
import { verifyLedger } from "./verify-ledger.ts";

const ASKED: EntryPlain = { case: "approvalRequested", value: { approvalId: "apr_1", kind: "human" } };
const APPROVED: EntryPlain = { case: "approvalResolved", value: { approvalId: "apr_1", answer: "approved" } };
const PENDING: EntryPlain = { case: "approvalResolved", value: { approvalId: "apr_1", answer: "pending" } };

test("a caller that was told to wait joins the pending request", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  appendEntries(ledger, call, [PENDING, call.failed], [call.error]);
  const again = decision(ledger, 1, "human");
  const second = callParts(ledger, 1, { approve: "human", last: again });
  appendEntries(
    ledger,
    second,
    [
      second.invoked,
      second.checked,
      second.decided,
      APPROVED,
      again.checked,
      again.decided,
      second.started,
      second.completed,
    ],
    [...second.items, ...again.items, second.result],
  );
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
});

/** An answer as it was given at a door: a record without a request. */
function answerAt(ledger: LedgerBuilder, value: Extract<EntryPlain, { case: "approvalResolved" }>["value"]): void {
  ledger.append({ chain: SESSION, entries: [{ case: "approvalResolved", value }] });
}

test("reports a decision on an approval that was never requested, or was decided before", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  answerAt(ledger, { approvalId: "apr_other", answer: "approved" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  answerAt(ledger, { approvalId: "apr_1", answer: "denied" });
  answerAt(ledger, { approvalId: "apr_1", answer: "approved" });
  const { problems } = await verifyLedger(ledger);
  assert.deepEqual(
    problems.map(({ recordIndex, code }) => [recordIndex, code]),
    [
      [2, "approval_missing"],
      [5, "approval_missing"],
    ],
  );
});

test("a client's own decision leaves its request pending, and is reported if there is no request", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  const decline: EntryPlain = {
    case: "approvalDeclined",
    value: { approvalId: "apr_1", client: "c", action: "decline" },
  };
  const declineAlone = () => ledger.append({ chain: SESSION, entries: [decline] });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  declineAlone();
  appendEntries(ledger, call, [PENDING, call.failed], [call.error]);
  answerAt(ledger, { approvalId: "apr_1", answer: "denied" });
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
  declineAlone();
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [6, "approval_missing"]);
});

test("an approval that waits for its call permits one call, and a second call is reported", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  appendEntries(ledger, call, [PENDING, call.failed], [call.error]);
  answerAt(ledger, { approvalId: "apr_1", answer: "approved" });
  const use = (number: number): void => {
    const again = callParts(ledger, number, { approve: "human" });
    const entries = [again.invoked, again.checked, again.decided, APPROVED, again.started, again.completed];
    appendEntries(ledger, again, entries, [...again.items, again.result]);
  };
  use(2);
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
  use(3);
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [6, "approval_missing"]);
});

test("a session approval covers calls until it is revoked", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  appendEntries(ledger, call, [PENDING, call.failed], [call.error]);
  answerAt(ledger, { approvalId: "apr_1", answer: "approved", scope: "session", standingId: "sta_1" });
  const rested: EntryPlain = {
    case: "approvalResolved",
    value: { approvalId: "apr_1", answer: "approved", scope: "session", standingId: "sta_1" },
  };
  const rest = (number: number): void => {
    const again = callParts(ledger, number, { approve: "human" });
    const entries = [again.invoked, again.checked, again.decided, rested, again.started, again.completed];
    appendEntries(ledger, again, entries, [...again.items, again.result]);
  };
  rest(2);
  rest(3);
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
  ledger.append({ chain: SESSION, entries: [{ case: "standingApprovalRevoked", value: { standingId: "sta_1" } }] });
  rest(4);
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [8, "approval_missing"]);
});

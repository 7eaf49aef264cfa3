import assert from "node:assert/strict";
import { test } from "node:test";
import { ContentPlace } from "@narthex/contracts";
import type { EntryPlain, ItemPlain } from "./testing/ledger-builder.ts";
import {
  type CallOptions,
  type CallParts,
  appendEntries,
  callParts,
  closeSession,
  completeIntent,
  intentOf,
  ledgerWithCall,
  readOnlyCall,
  SESSION,
  startedLedger,
} from "./testing/ledger-story.ts";
import { verifyLedger } from "./verify-ledger.ts";

const ASKED: EntryPlain = { case: "approvalRequested", value: { approvalId: "apr_1", kind: "human" } };
const APPROVED: EntryPlain = { case: "approvalResolved", value: { approvalId: "apr_1", answer: "approved" } };
const DENIED: EntryPlain = { case: "approvalResolved", value: { approvalId: "apr_1", answer: "denied" } };
const UNGRANTED: EntryPlain = { case: "capabilityCheck", value: { granted: false, rationaleCode: "LEASE_SCOPE" } };
const SETTLED: EntryPlain = { case: "outcomeSettled", value: { requestId: "req-1", answer: "happened", by: "ada" } };

type Shape = (call: CallParts) => readonly EntryPlain[];

const WRONG: readonly {
  readonly name: string;
  readonly shape: Shape;
  readonly code: string;
  readonly options?: CallOptions;
}[] = [
  { name: "begins with a check", shape: (c) => [c.checked, c.decided, c.started, c.completed], code: "call_unopened" },
  { name: "is an outcome alone", shape: (c) => [c.completed], code: "call_unopened" },
  { name: "is invoked twice", shape: (c) => [c.invoked, c.invoked, c.denied], code: "call_order" },
  {
    name: "is decided before it is checked",
    shape: (c) => [c.invoked, c.decided, c.checked, c.denied],
    code: "call_order",
  },
  {
    name: "starts without a decision",
    shape: (c) => [c.invoked, c.checked, c.started, c.completed],
    code: "call_order",
  },
  { name: "starts after invoking only", shape: (c) => [c.invoked, c.started, c.failed], code: "call_order" },
  {
    name: "completes without starting",
    shape: (c) => [c.invoked, c.checked, c.decided, c.completed],
    code: "call_order",
  },
  {
    name: "starts twice",
    shape: (c) => [c.invoked, c.checked, c.decided, c.started, c.started, c.completed],
    code: "call_order",
  },
  {
    name: "has two outcomes",
    shape: (c) => [c.invoked, c.checked, c.decided, c.started, c.completed, c.failed],
    code: "call_order",
  },
  {
    name: "has the same outcome twice",
    shape: (c) => [c.invoked, c.checked, c.decided, c.started, c.completed, c.completed],
    code: "call_order",
  },
  { name: "goes on after its outcome", shape: (c) => [c.invoked, c.denied, c.checked], code: "call_order" },
  {
    name: "starts although the lease said no",
    shape: (c) => [c.invoked, UNGRANTED, c.decided, c.started, c.completed],
    code: "call_order",
  },
  {
    name: "starts although a person said no",
    shape: (c) => [c.invoked, c.checked, c.decided, ASKED, DENIED, c.started, c.completed],
    code: "call_order",
    options: { approve: "human" },
  },
  {
    name: "starts while a person is asked",
    shape: (c) => [c.invoked, c.checked, c.decided, ASKED, c.started, c.completed],
    code: "call_order",
    options: { approve: "human" },
  },
  {
    name: "starts without the approval it needs",
    shape: (c) => [c.invoked, c.checked, c.decided, c.started, c.completed],
    code: "approval_missing",
    options: { approve: "human" },
  },
  {
    name: "has an approval nobody was asked for",
    shape: (c) => [c.invoked, c.checked, c.decided, APPROVED, c.started, c.completed],
    code: "approval_missing",
    options: { approve: "human" },
  },
];

for (const { name, shape, code, options } of WRONG) {
  test(`reports a call that ${name}`, async () => {
    const { ledger, call } = ledgerWithCall(options);
    appendEntries(ledger, call, shape(call), [...call.items, call.result, call.error]);
    const report = await verifyLedger(ledger);
    assert.equal(report.problems[0]?.recordIndex, 2);
    assert.ok(
      report.problems.some((problem) => problem.code === code),
      JSON.stringify(report.problems),
    );
  });
}

test("accepts only a refusal after a policy denial", async () => {
  const { ledger, call } = ledgerWithCall();
  const forbidden: EntryPlain = { case: "policyDecision", value: { ...value(call.decided), allowed: false } };
  appendEntries(
    ledger,
    call,
    [call.invoked, call.checked, forbidden, call.started, call.completed],
    [...call.items, call.result],
  );
  assert.equal((await verifyLedger(ledger)).problems[0]?.code, "call_order");
});

test("a denial in observe mode lets the call continue", async () => {
  const { ledger, call } = ledgerWithCall();
  const observed: EntryPlain = {
    case: "policyDecision",
    value: { ...value(call.decided), allowed: false, observedOnly: true },
  };
  appendEntries(
    ledger,
    call,
    [call.invoked, call.checked, observed, call.started, call.completed],
    [...call.items, call.result],
  );
  // The sample's proof allows the call.
  const codes = (await verifyLedger(ledger)).problems.map(({ code }) => code);
  assert.deepEqual(codes, ["proof_contradicts"]);
});

test("reports a second outcome in a later record at that record", async () => {
  const ledger = startedLedger();
  const call = intentOf(ledger, 1);
  completeIntent(ledger, call);
  completeIntent(ledger, call);
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [4, "call_unopened"]);
});

test("reports an outcome that repeats another call's request or decision", async () => {
  const ledger = startedLedger();
  const first = intentOf(ledger, 1);
  const second = intentOf(ledger, 2);
  appendEntries(ledger, first, [second.completed], [second.result]);
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [4, "outcome_contradicts"]);
});

for (const [name, wrong] of [
  ["completes with an error code", { code: "INTERNAL" }],
  ["completes without success", { success: false }],
  ["completes without a result", { resultCommitment: new Uint8Array(0) }],
] as const) {
  test(`reports a call that ${name}`, async () => {
    const { ledger, call } = ledgerWithCall();
    const completed: EntryPlain = { case: "toolCompleted", value: { ...value(call.completed), ...wrong } };
    appendEntries(
      ledger,
      call,
      [call.invoked, call.checked, call.decided, call.started, completed],
      [...call.items, call.result],
    );
    const [problem] = (await verifyLedger(ledger)).problems;
    assert.deepEqual([problem?.recordIndex, problem?.code], [2, "outcome_contradicts"]);
  });
}

test("reports a call started under the id of an intent without an outcome", async () => {
  const ledger = startedLedger();
  intentOf(ledger, 1);
  intentOf(ledger, 1);
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [3, "call_order"]);
});

test("reports a repeat that names a later record", async () => {
  const { ledger, call } = ledgerWithCall();
  const repeated: EntryPlain = { case: "callRepeated", value: { firstRecordIndex: 2, matchedBy: "request_id" } };
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, repeated], call.items);
  assert.equal((await verifyLedger(ledger)).problems[0]?.code, "outcome_contradicts");
});

test("counts an intent without an outcome as open, not as a problem", async () => {
  const ledger = startedLedger();
  intentOf(ledger, 1);
  readOnlyCall(ledger, 2);
  closeSession(ledger);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problemCount, report.openCalls, report.openIntents], [0, 1, 1]);
});

test("a call interrupted during an approval is open but no intent", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problemCount, report.openCalls, report.openIntents], [0, 1, 0]);
});

test("a call interrupted during an approval may be made again under its id", async () => {
  const { ledger, call } = ledgerWithCall({ approve: "human" });
  appendEntries(ledger, call, [call.invoked, call.checked, call.decided, ASKED], call.items);
  completeIntent(ledger, intentOf(ledger, 1));
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.openCalls], [[], 0]);
});

test("a settled intent is closed, and its id may be used again", async () => {
  const ledger = startedLedger();
  intentOf(ledger, 1);
  ledger.append({ chain: SESSION, entries: [SETTLED] });
  const again = intentOf(ledger, 1);
  completeIntent(ledger, again);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.openCalls], [[], 0]);
});

test("a settlement repeats the request and the proof of its intent, and may include the result", async () => {
  const ledger = startedLedger();
  const items = (call: CallParts): readonly ItemPlain[] => [
    ...call.items.slice(1, 2),
    { ...call.proof.item, place: ContentPlace.ELSEWHERE, data: new Uint8Array(0) },
  ];
  const lost = intentOf(ledger, 1);
  ledger.append({ chain: SESSION, requestId: "req-1", entries: [SETTLED], items: items(lost) });
  const found = intentOf(ledger, 2);
  const settled: EntryPlain = {
    case: "outcomeSettled",
    value: { requestId: "req-2", answer: "happened", by: "reconciled" },
  };
  appendEntries(ledger, found, [settled, found.completed], [...items(found), found.result]);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.openCalls], [[], 0]);
});

test("reports settling a call that has an outcome", async () => {
  const ledger = startedLedger();
  completeIntent(ledger, intentOf(ledger, 1));
  ledger.append({ chain: SESSION, entries: [SETTLED] });
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.deepEqual([problem?.recordIndex, problem?.code], [4, "call_unopened"]);
});

test("a refusal under the id of a running call leaves that call open", async () => {
  const ledger = startedLedger();
  const running = intentOf(ledger, 1);
  const refused = callParts(ledger, 1);
  appendEntries(
    ledger,
    refused,
    [refused.invoked, refused.checked, refused.decided, refused.failed],
    [...refused.items, refused.error],
  );
  completeIntent(ledger, running);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.openCalls], [[], 0]);
});

test("accepts calls that end early at every stage", async () => {
  const ledger = startedLedger();
  const shapes: Shape[] = [
    (c) => [c.invoked, c.failed],
    (c) => [c.invoked, c.checked, c.failed],
    (c) => [c.invoked, c.checked, c.decided, c.failed],
    (c) => [c.invoked, c.checked, c.decided, c.started, c.failed],
  ];
  for (const [i, shape] of shapes.entries()) {
    const call = callParts(ledger, i + 1);
    const entries = shape(call).map((entry) => withoutProof(entry, i < 2));
    const items = i === 0 || i === 1 ? call.items.slice(0, 2) : call.items;
    appendEntries(ledger, call, entries, [...items, call.error]);
  }
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
});

function withoutProof(entry: EntryPlain, without: boolean): EntryPlain {
  if (!without || entry.case !== "toolFailed") return entry;
  return { case: "toolFailed", value: { ...entry.value, proofCommitment: new Uint8Array(0) } };
}

function value(entry: EntryPlain): object {
  return entry.value ?? {};
}

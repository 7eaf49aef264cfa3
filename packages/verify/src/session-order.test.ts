import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, utf8 } from "@narthex/contracts";
import { LedgerBuilder, type RecordPlan } from "./testing/ledger-builder.ts";
import {
  closeSession,
  completeIntent,
  intentOf,
  OTHER_SESSION,
  openSession,
  readOnlyCall,
  SESSION,
} from "./testing/ledger-story.ts";
import { verifyLedger } from "./verify-ledger.ts";

const REFUSED: RecordPlan["entries"] = [
  { case: "requestRefused", value: { door: "framed", reason: "malformed", count: 3 } },
];

test("reports a session's chain that does not begin with its opening", async () => {
  const ledger = new LedgerBuilder();
  readOnlyCall(ledger, 1);
  await assertFirst(ledger, 0, "session_order");
});

test("reports a session opened in another one's chain", async () => {
  const ledger = new LedgerBuilder();
  ledger.append({ chain: SESSION, entries: [{ case: "sessionOpened", value: { sessionId: OTHER_SESSION } }] });
  await assertFirst(ledger, 0, "session_order");
});

test("reports a session opened twice", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  openSession(ledger);
  await assertFirst(ledger, 1, "session_order");
});

test("reports a session opened in the system's chain", async () => {
  const ledger = new LedgerBuilder();
  ledger.append({ chain: "system", entries: REFUSED });
  ledger.append({ chain: "system", entries: [{ case: "sessionOpened", value: { sessionId: SESSION } }] });
  await assertFirst(ledger, 1, "session_order");
});

test("rejects calls that begin after their session was closed", async () => {
  for (const begin of [closeSession, (ledger: LedgerBuilder) => void intentOf(ledger, 1)]) {
    const ledger = new LedgerBuilder();
    openSession(ledger);
    closeSession(ledger);
    begin(ledger);
    await assertFirst(ledger, 2, "session_order");
  }
});

test("accepts the end of a call that began before its session was closed", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  const first = intentOf(ledger, 1);
  intentOf(ledger, 2);
  closeSession(ledger);
  completeIntent(ledger, first);
  ledger.append({
    chain: SESSION,
    entries: [{ case: "outcomeSettled", value: { requestId: "req-2", answer: "happened" } }],
  });
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.openCalls], [[], 0]);
});

test("reports a sequence gap at the record after it, as a matter of completeness", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  ledger.append({ chain: SESSION, entries: REFUSED, instead: { sequence: 5 } });
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems[0]?.recordIndex, report.problems[0]?.code], [1, "sequence_gap"]);
  assert.equal(report.complete, false);
});

test("reports a sequence number used twice", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  ledger.append({ chain: SESSION, entries: REFUSED });
  ledger.append({ chain: SESSION, entries: REFUSED, instead: { sequence: 1 } });
  await assertFirst(ledger, 2, "sequence_repeated");
});

test("reports wall time that goes back, across chains", async () => {
  const ledger = new LedgerBuilder();
  ledger.append({ chain: "system", entries: REFUSED, wallTimeMs: 2000 });
  ledger.append({ chain: "system", entries: REFUSED, wallTimeMs: 2000 });
  ledger.append({
    chain: SESSION,
    entries: [{ case: "sessionOpened", value: { sessionId: SESSION } }],
    wallTimeMs: 1999,
  });
  await assertFirst(ledger, 2, "wall_time_back");
});

test("reports logical time that goes back, within its chain only", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  readOnlyCall(ledger, 5);
  openSession(ledger, OTHER_SESSION);
  readOnlyCall(ledger, 1, {}, OTHER_SESSION);
  readOnlyCall(ledger, 4);
  await assertFirst(ledger, 4, "logical_time_back");
  assert.equal((await verifyLedger(ledger)).problemCount, 1);
});

for (const [name, instead] of [
  ["format 2", { format: 2 }],
  ["no format", { format: 0 }],
  ["no chain", { chain: "" }],
  ["no entries", { entries: [] }],
  ["an entry without a kind", { entries: [{}] }],
  ["a first record that follows another", { previousHash: blake3(utf8("x")) }],
] as const) {
  test(`a record with ${name} is malformed`, async () => {
    const ledger = new LedgerBuilder();
    ledger.append({ chain: "system", entries: REFUSED, instead });
    await assertFirst(ledger, 0, "record_malformed");
  });
}

test("a later record without a predecessor is malformed", async () => {
  const ledger = new LedgerBuilder();
  ledger.append({ chain: "system", entries: REFUSED });
  ledger.append({ chain: "system", entries: REFUSED, instead: { previousHash: new Uint8Array(0) } });
  await assertFirst(ledger, 1, "record_malformed");
});

async function assertFirst(ledger: LedgerBuilder, index: number, ...codes: string[]): Promise<void> {
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.equal(problem?.recordIndex, index);
  assert.ok(codes.includes(problem?.code ?? ""), `${problem?.code}: ${problem?.message}`);
}

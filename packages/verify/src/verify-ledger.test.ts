import assert from "node:assert/strict";
import { test } from "node:test";
import type { LedgerRow, LedgerSource } from "./ledger-source.ts";
import { LedgerBuilder } from "./testing/ledger-builder.ts";
import { openSession, readOnlyCall } from "./testing/ledger-story.ts";
import { sampleLedger } from "./testing/sample-ledger.ts";
import { verifyLedger } from "./verify-ledger.ts";

test("an aborted signal rejects with its reason", async () => {
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  await assert.rejects(verifyLedger(sampleLedger(), { signal: controller.signal }), /enough/);
});

test("a signal aborted half way stops reading and releases the source", async () => {
  const ledger = sampleLedger();
  const controller = new AbortController();
  let released = false;
  const source: LedgerSource = {
    async *records() {
      try {
        for (const row of ledger.rows) {
          if (row.index === 5) controller.abort(new Error("enough"));
          yield row;
        }
      } finally {
        released = true;
      }
    },
    readFile: (digest) => ledger.readFile(digest),
  };
  await assert.rejects(verifyLedger(source, { signal: controller.signal }), /enough/);
  assert.equal(released, true);
});

test("a failing source is a problem at the record where it failed", async () => {
  const ledger = sampleLedger();
  const source: LedgerSource = {
    async *records(): AsyncGenerator<LedgerRow> {
      yield* ledger.rows.slice(0, 4);
      throw new Error("database disk image is malformed");
    },
    readFile: () => undefined,
  };
  const report = await verifyLedger(source);
  assert.deepEqual(
    report.problems.map((problem) => [problem.recordIndex, problem.code, problem.kind]),
    [[4, "unreadable", "integrity"]],
  );
  assert.equal(report.records, 4);
});

test("counts problems beyond a hundred without listing them", async () => {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  for (let i = 1; i <= 150; i++) readOnlyCall(ledger, i);
  ledger.rows = ledger.rows.map((row) => ({ ...row, hash: row.hash.map((byte) => byte ^ 1) }));
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems.length, report.problemCount], [100, 151]);
  assert.deepEqual(
    report.problems.map((problem) => problem.recordIndex),
    Array.from({ length: 100 }, (_, i) => i),
  );
});

test("an empty ledger is sound and proves nothing", async () => {
  const report = await verifyLedger(new LedgerBuilder());
  assert.deepEqual([report.intact, report.complete, report.records, report.unprovenTail], [true, true, 0, 0]);
  assert.equal(report.headHash.length, 0);
});

test("the report counts everything in the ledger", async () => {
  const ledger = sampleLedger();
  const report = await verifyLedger(ledger);
  assert.deepEqual(report, {
    intact: true,
    complete: true,
    records: ledger.rows.length,
    chains: 3,
    contentItems: 42,
    erasedItems: 1,
    leftOutItems: 0,
    proofs: 8,
    openCalls: 0,
    openIntents: 0,
    unprovenTail: ledger.rows.length,
    log: {
      origin: "",
      verifierKey: "",
      keyTrusted: false,
      keys: 0,
      checkpoints: 0,
      provenSize: 0,
      provenRoot: new Uint8Array(0),
      keptCheckpoints: 0,
      tiles: 0,
      tilesMissing: 0,
    },
    areas: [],
    problems: [],
    problemCount: 0,
    headHash: ledger.rows.at(-1)?.hash,
  });
});

test("progress ends with every record done", async () => {
  const steps: { readonly recordsDone: number; readonly recordsTotal: number }[] = [];
  const ledger = new LedgerBuilder();
  openSession(ledger);
  const [row] = ledger.rows;
  assert.ok(row !== undefined);
  const many: LedgerSource = {
    recordCount: async () => 9000,
    async *records() {
      for (let i = 0; i < 9000; i++) yield row;
    },
    readFile: () => undefined,
  };
  await verifyLedger(many, { onProgress: (step) => steps.push(step) });
  assert.deepEqual(
    steps.map((step) => step.recordsDone),
    [4096, 8192, 9000],
  );
  assert.ok(steps.every((step) => step.recordsTotal === 9000));
});

test("without content, records are checked as usual, and the report says that content was not checked", async () => {
  const ledger = sampleLedger();
  const report = await verifyLedger(ledger, { recordsOnly: true, nowMs: 1 });
  assert.deepEqual([report.problemCount, report.contentItems, report.recordsOnly], [0, 0, true]);
  assert.equal(report.verified, undefined);
  const row = ledger.rows[4];
  assert.ok(row !== undefined);
  ledger.rows[4] = { ...row, content: Uint8Array.of(0xff) };
  assert.equal((await verifyLedger(ledger, { recordsOnly: true })).problemCount, 0);
  ledger.rows[4] = { ...row, record: row.record.map((byte, i) => (i === 9 ? byte ^ 1 : byte)) };
  const broken = await verifyLedger(ledger, { recordsOnly: true });
  assert.deepEqual([broken.problems[0]?.code, broken.problems[0]?.recordIndex], ["hash_mismatch", 4]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ContentPlace,
  create,
  fromBinary,
  hashRecord,
  type RecordContent,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toBinary,
} from "@narthex/contracts";
import * as fc from "fast-check";
import { runsOf } from "../../../test/sampled.ts";
import type { LedgerRow } from "./ledger-source.ts";
import { isUncovered, UNCOMMITTED } from "./testing/is-uncovered.ts";
import type { LedgerBuilder } from "./testing/ledger-builder.ts";
import { sampleLedger } from "./testing/sample-ledger.ts";
import { flip, rowOf } from "./testing/vectors/apply-edit.ts";
import { verifyLedger } from "./verify-ledger.ts";

const SIZE = sampleLedger().rows.length;

test("the sample is sound before any change", async () => {
  const report = await verifyLedger(sampleLedger());
  assert.deepEqual(report.problems, []);
  assert.deepEqual([report.intact, report.complete, report.records], [true, true, SIZE]);
});

test("finds any flipped bit of a record, its hash or its columns at that record", async () => {
  const bit = fc.record({
    index: fc.nat({ max: SIZE - 1 }),
    part: fc.constantFrom("record" as const, "hash" as const),
    bit: fc.nat(),
  });
  await fc.assert(
    fc.asyncProperty(bit, async ({ index, part, bit: at }) => {
      const ledger = sampleLedger();
      change(ledger, index, (row) => ({ ...row, [part]: flip(row[part], at) }));
      await assertFirstBad(ledger, index);
    }),
    { numRuns: runsOf(300) },
  );
});

test("finds any flipped bit of a record's content at that record, except where no commitment covers it", async () => {
  const rowsWithContent = sampleLedger().rows.filter((row) => row.content.length > 0);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rowsWithContent), fc.nat(), async ({ index }, at) => {
      const ledger = sampleLedger();
      const before = ledger.rows[index]?.content ?? new Uint8Array(0);
      change(ledger, index, (row) => ({ ...row, content: flip(row.content, at) }));
      const after = ledger.rows[index]?.content ?? new Uint8Array(0);
      if (isUncovered(before, after)) return;
      await assertFirstBad(ledger, index);
    }),
    { numRuns: runsOf(500) },
  );
});

test("finds a column that differs from its record at that record", async () => {
  for (let index = 0; index < SIZE; index++) {
    for (const wrong of [{ index: index + 7 }, { index: -1 }, { chain: "ses_x" }, { sequence: 1000 }]) {
      const ledger = sampleLedger();
      change(ledger, index, (row) => ({ ...row, ...wrong }));
      assert.equal((await assertFirstBad(ledger, index)).code, "column_mismatch");
    }
  }
});

test("reports a record edited and hashed again, unless it is the last of its chain", async () => {
  for (const [index, row] of sampleLedger().rows.entries()) {
    const ledger = sampleLedger();
    change(ledger, index, (original) => rewrite(original, (record) => (record.wallTimeMs += 1n)));
    const follows = ledger.rows.some((later) => later.chain === row.chain && later.sequence > row.sequence);
    if (follows) assert.equal((await assertFirstBad(ledger, index)).code, "chain_broken");
    else assert.equal((await verifyLedger(ledger)).problemCount, 0);
  }
});

test("reports a dropped record, unless it was the last", async () => {
  for (let index = 0; index < SIZE - 1; index++) {
    const ledger = sampleLedger();
    ledger.rows.splice(index, 1);
    const problem = await assertFirstBad(ledger, index);
    assert.deepEqual([problem.code, problem.kind], ["index_gap", "completeness"]);
  }
});

test("reports a truncated head", async () => {
  for (let dropped = 1; dropped < SIZE; dropped++) {
    const ledger = sampleLedger();
    ledger.rows.splice(0, dropped);
    assert.equal((await assertFirstBad(ledger, 0)).code, "index_gap");
  }
});

test("cannot detect a truncated tail, and the report says how much of the ledger could be missing", async () => {
  const ledger = sampleLedger();
  ledger.rows.splice(SIZE - 3);
  const report = await verifyLedger(ledger);
  assert.equal(report.problemCount, 0);
  assert.equal(report.unprovenTail, SIZE - 3);
});

test("reports two swapped rows at the first of them", async () => {
  await forPairs(async (low, high) => {
    const ledger = sampleLedger();
    const [first, second] = [rowOf(ledger, low), rowOf(ledger, high)];
    ledger.rows[low] = second;
    ledger.rows[high] = first;
    await assertFirstBad(ledger, low);
  });
});

test("reports two records swapped under their columns at the first of them", async () => {
  await forPairs(async (low, high) => {
    const ledger = sampleLedger();
    const [first, second] = [rowOf(ledger, low), rowOf(ledger, high)];
    ledger.rows[low] = { ...first, record: second.record, hash: second.hash, content: second.content };
    ledger.rows[high] = { ...second, record: first.record, hash: first.hash, content: first.content };
    await assertFirstBad(ledger, low);
  });
});

test("reports a repeated row at its second position", async () => {
  for (let index = 0; index < SIZE; index++) {
    const ledger = sampleLedger();
    ledger.rows.splice(index + 1, 0, rowOf(ledger, index));
    assert.equal((await assertFirstBad(ledger, index + 1)).code, "index_repeated");
  }
});

test("reports a copy of a record with the next index, sequence and hash", async () => {
  const ledger = sampleLedger();
  const last = rowOf(ledger, SIZE - 2);
  const head = rowOf(ledger, SIZE - 1);
  ledger.rows.push(
    rewrite({ ...last, index: SIZE, sequence: head.sequence + 1 }, (record) => {
      record.index = BigInt(SIZE);
      record.sequence = BigInt(head.sequence + 1);
    }),
  );
  const report = await verifyLedger(ledger);
  assert.equal(report.intact, false);
  assert.ok((report.problems[0]?.recordIndex ?? 0) >= SIZE - 1);
});

test("reports a record spliced in from another ledger", async () => {
  const foreign = sampleLedger("another ledger");
  for (const [index, row] of sampleLedger().rows.entries()) {
    const ledger = sampleLedger();
    const spliced = rowOf(foreign, index);
    if (Buffer.compare(spliced.record, row.record) === 0) continue;
    ledger.rows[index] = spliced;
    const chain = ledger.rows.filter((other) => other.chain === row.chain);
    const report = await verifyLedger(ledger);
    const named = report.problems[0]?.recordIndex ?? -1;
    const at = chain.indexOf(spliced);
    if (at === 0 && chain.length > 1) assert.equal(named, index);
    // Of the last two of a chain nobody can tell which one is bad.
    else if (at === chain.length - 1) assert.ok(named === -1 || named === chain[at - 1]?.index || named === index);
    else assert.equal(named, index);
  }
});

test("reports a spliced session without its beginning", async () => {
  const ledger = sampleLedger();
  const foreign = rowOf(ledger, 6);
  ledger.rows[6] = rewrite({ ...foreign, chain: "ses_cccccccccccccccccccc" }, (record) => {
    record.chain = "ses_cccccccccccccccccccc";
  });
  assert.equal((await assertFirstBad(ledger, 6)).code, "sequence_gap");
});

test("reports a changed nonce wherever a commitment uses it", async () => {
  for (const [index, row] of sampleLedger().rows.entries()) {
    for (const [position, item] of fromBinary(RecordContentSchema, row.content).items.entries()) {
      if (item.place === ContentPlace.ERASED || UNCOMMITTED.has(item.role)) continue;
      const ledger = sampleLedger();
      changeContent(ledger, index, (content) => {
        const changed = content.items[position];
        if (changed !== undefined) changed.nonce = flip(changed.nonce, 100);
      });
      assert.equal((await assertFirstBad(ledger, index)).code, "content_unclaimed");
    }
  }
});

test("garbage in place of any part of a row is a problem and never throws", async () => {
  const garbage = fc.record({
    index: fc.nat({ max: SIZE - 1 }),
    row: fc.record(
      {
        index: fc.oneof(fc.integer(), fc.constant(Number.NaN)),
        chain: fc.string({ unit: "binary" }),
        sequence: fc.integer(),
        hash: fc.uint8Array({ maxLength: 40 }),
        record: fc.uint8Array({ maxLength: 400 }),
        content: fc.uint8Array({ maxLength: 400 }),
      },
      { requiredKeys: [] },
    ),
  });
  await fc.assert(
    fc.asyncProperty(garbage, async ({ index, row }) => {
      const ledger = sampleLedger();
      change(ledger, index, (original) => ({ ...original, ...row }));
      const report = await verifyLedger(ledger);
      assert.ok(report.problems.length <= 100);
    }),
    { numRuns: runsOf(300) },
  );
});

test("columns of another type are problems of their row", async () => {
  const parts = ["chain", "hash", "record", "content"] as const;
  for (const part of parts) {
    for (const value of [null, 7, "text", new ArrayBuffer(8)]) {
      if (part === "chain" && typeof value === "string") continue;
      const ledger = sampleLedger();
      // What the compiler forbids is what a hostile store file does.
      change(ledger, 5, (row) => Object.assign({ ...row }, { [part]: value }));
      assert.equal((await assertFirstBad(ledger, 5)).code, "record_malformed");
    }
  }
});

async function assertFirstBad(ledger: LedgerBuilder, index: number) {
  const report = await verifyLedger(ledger);
  const first = report.problems[0];
  assert.ok(first !== undefined, `nothing was found wrong with record ${index}`);
  assert.equal(first.recordIndex, index, `${first.code}: ${first.message}`);
  assert.equal(report.intact && report.complete, false);
  return first;
}

async function forPairs(check: (low: number, high: number) => Promise<void>): Promise<void> {
  for (let low = 0; low < SIZE; low++) for (let high = low + 1; high < SIZE; high += 3) await check(low, high);
}

function change(ledger: LedgerBuilder, index: number, edit: (row: LedgerRow) => LedgerRow): void {
  ledger.rows[index] = edit(rowOf(ledger, index));
}

function changeContent(ledger: LedgerBuilder, index: number, edit: (content: RecordContent) => void): void {
  change(ledger, index, (row) => {
    const content = fromBinary(RecordContentSchema, row.content);
    edit(content);
    return { ...row, content: toBinary(RecordContentSchema, content) };
  });
}

/** An edit by someone who knows the format: the record is hashed again. */
function rewrite(row: LedgerRow, edit: (record: RecordMessage) => void): LedgerRow {
  const record = fromBinary(RecordSchema, row.record);
  edit(record);
  const bytes = toBinary(RecordSchema, create(RecordSchema, record));
  return { ...row, record: bytes, hash: hashRecord(bytes) };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, ContentPlace, ContentRole, toHex, utf8 } from "@narthex/contracts";
import type { LedgerSource } from "./ledger-source.ts";
import { type Committed, type EntryPlain, type ItemPlain, LedgerBuilder } from "./testing/ledger-builder.ts";
import { callParts, completeIntent, intentOf, openSession, readOnlyCall, SESSION } from "./testing/ledger-story.ts";
import { eraseContent, eraseSilently } from "./testing/sample-ledger.ts";
import { verifyLedger } from "./verify-ledger.ts";

const LARGE = new Uint8Array(200_000).fill(7);
const NOTHING = new Uint8Array(0);

test("reports a missing content file at every record that needs it, the first one first", async () => {
  const ledger = opened();
  put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
  put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
  ledger.files.clear();
  const report = await verifyLedger(ledger);
  assert.deepEqual(named(report), ["1 content_missing", "2 content_missing"]);
  assert.deepEqual([report.intact, report.complete], [true, false]);
});

test("reports a content file that is changed, truncated or extended", async () => {
  const damaged = [
    LARGE.map((byte, i) => (i === 150_000 ? byte ^ 1 : byte)),
    LARGE.subarray(1),
    NOTHING,
    new Uint8Array(200_001).fill(7),
  ];
  for (const bytes of damaged) {
    const ledger = opened();
    put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
    ledger.files.set(toHex(blake3(LARGE)), bytes);
    const report = await verifyLedger(ledger);
    assert.deepEqual(named(report), ["1 content_damaged"]);
    assert.equal(report.intact, false);
  }
});

test("reports an unreadable content file, and continues verifying", async () => {
  const ledger = opened();
  put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
  readOnlyCall(ledger, 1);
  const source = sourceOf(ledger, async () => {
    throw new Error("input/output error");
  });
  const report = await verifyLedger(source);
  assert.deepEqual([named(report), report.records], [["1 content_damaged"], 3]);
});

test("reads a file once, however many records need it", async () => {
  const ledger = opened();
  for (let i = 0; i < 5; i++) put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
  let reads = 0;
  const source = sourceOf(ledger, async (digest) => {
    reads++;
    return ledger.readFile(digest);
  });
  assert.deepEqual((await verifyLedger(source)).problems, []);
  assert.equal(reads, 1);
});

test("reports content in a row that differs from its digest", async () => {
  const ledger = opened();
  const { item, commitment } = ledger.commit(ContentRole.PUT, "the truth");
  put(ledger, { item: { ...item, data: utf8("the turth") }, commitment }, 9);
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 content_damaged"]);
});

test("reports content that the record's entries do not name", async () => {
  const ledger = opened();
  const call = callParts(ledger, 1);
  const stray = ledger.commit(ContentRole.RESULT, "smuggled").item;
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, call.decided, call.started, call.completed],
    items: [...call.items, call.result, stray],
  });
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 content_unclaimed"]);
});

test("reports a commitment that opens only with another role", async () => {
  const ledger = opened();
  const { item, commitment } = ledger.commit(ContentRole.RESULT, "x");
  put(ledger, { item, commitment }, 1);
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 content_unclaimed", "1 commitment_unopened"]);
});

test("reports each omitted item", async () => {
  for (let left = 0; left < 5; left++) {
    const ledger = opened();
    const call = callParts(ledger, 1);
    ledger.append({
      chain: SESSION,
      requestId: call.requestId,
      entries: [call.invoked, call.checked, call.decided, call.started, call.completed],
      items: [...call.items, call.result].filter((_, i) => i !== left),
    });
    assert.deepEqual(named(await verifyLedger(ledger)), ["1 commitment_unopened"]);
  }
});

test("an outcome requires its own result, not another call's", async () => {
  const ledger = opened();
  const first = intentOf(ledger, 1);
  const second = intentOf(ledger, 2);
  completeIntent(ledger, { ...first, result: second.result });
  assert.deepEqual(named(await verifyLedger(ledger)), ["3 content_unclaimed", "3 commitment_unopened"]);
});

test("reports sizes and labels that differ from the entry's", async () => {
  for (const wrong of [{ size: 8 }, { labels: [] }, { labels: ["untrusted", "more"] }] as const) {
    const ledger = opened();
    const { item, commitment } = ledger.commitElsewhere(ContentRole.PUT, utf8("content"), ["untrusted"]);
    put(ledger, ledger.commit(ContentRole.PUT, "content"));
    const value = { contentCommitment: commitment, size: 7, labels: ["untrusted"] };
    ledger.append({
      chain: SESSION,
      entries: [{ case: "contentStored", value }],
      items: [{ ...item, ...wrong }],
    });
    assert.ok(named(await verifyLedger(ledger)).includes("2 content_contradicts"));
  }
});

const MALFORMED: readonly (readonly [string, Partial<ItemPlain>])[] = [
  ["no role", { role: ContentRole.UNSPECIFIED }],
  ["no place", { place: ContentPlace.UNSPECIFIED }],
  ["no nonce", { nonce: NOTHING }],
  ["a short digest", { digest: new Uint8Array(31) }],
  ["bytes and the place of a file", { place: ContentPlace.FILE }],
  ["bytes and no place for them", { place: ContentPlace.NONE }],
  ["no bytes anywhere", { place: ContentPlace.NONE, data: NOTHING }],
  ["its bytes and the claim to be erased", { place: ContentPlace.ERASED }],
  ["bytes for a request", { role: ContentRole.REQUEST }],
];

for (const [name, wrong] of MALFORMED) {
  test(`a content item with ${name} is malformed`, async () => {
    const ledger = opened();
    const { item, commitment } = ledger.commit(ContentRole.PUT, "content");
    put(ledger, { item: { ...item, ...wrong }, commitment }, 7);
    const report = await verifyLedger(ledger);
    assert.deepEqual(report.problems[0]?.code, "content_malformed");
  });
}

test("reports content that is stored nowhere at the first record that refers to it", async () => {
  const ledger = opened();
  put(ledger, ledger.commitElsewhere(ContentRole.PUT, LARGE));
  put(ledger, ledger.commitElsewhere(ContentRole.PUT, LARGE));
  readOnlyCall(ledger, 1);
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 content_missing"]);
});

test("finds content in earlier rows, later rows and files", async () => {
  const ledger = opened();
  put(ledger, ledger.commit(ContentRole.PUT, "early"));
  put(ledger, ledger.commitElsewhere(ContentRole.PUT, utf8("early")));
  put(ledger, ledger.commitElsewhere(ContentRole.PUT, utf8("late")));
  put(ledger, ledger.commitElsewhere(ContentRole.PUT, LARGE));
  put(ledger, ledger.commit(ContentRole.PUT, "late"));
  put(ledger, ledger.commitFile(ContentRole.PUT, LARGE));
  assert.deepEqual((await verifyLedger(ledger)).problems, []);
});

test("reports content of another size than declared", async () => {
  const ledger = opened();
  const { item, commitment } = ledger.commitElsewhere(ContentRole.PUT, utf8("early"));
  put(ledger, ledger.commit(ContentRole.PUT, "early"));
  put(ledger, { item: { ...item, size: 6 }, commitment }, 6);
  assert.deepEqual(named(await verifyLedger(ledger)), ["2 content_contradicts"]);
});

test("an outcome that refers back to its intent needs no second read", async () => {
  const ledger = opened();
  const call = intentOf(ledger, 1);
  const back = { ...call.proof.item, place: ContentPlace.ELSEWHERE, data: NOTHING };
  ledger.append({ chain: SESSION, requestId: call.requestId, entries: [call.completed], items: [back, call.result] });
  let readings = 0;
  const source: LedgerSource = {
    records() {
      readings++;
      return ledger.records();
    },
    readFile: () => undefined,
  };
  assert.deepEqual((await verifyLedger(source)).problems, []);
  assert.equal(readings, 1);
});

test("accepts content without bytes only if its entry declares it withheld", async () => {
  for (const [redacted, labels, expected] of [
    [true, [], []],
    [false, [], ["1 content_malformed", "1 commitment_unopened"]],
    [false, ["secret"], ["1 content_malformed", "1 commitment_unopened"]],
  ] as const) {
    const ledger = opened();
    const { item, commitment } = ledger.commit(ContentRole.RESULT, "hunter2", labels);
    const withheld = { item: { ...item, place: ContentPlace.NONE, data: NOTHING }, commitment };
    readOnlyCall(ledger, 1, { result: withheld, labels, redacted });
    assert.deepEqual(named(await verifyLedger(ledger)), expected);
  }
});

test("erased content with its entry is erased, not missing", async () => {
  const ledger = opened();
  readOnlyCall(ledger, 1);
  for (let item = 0; item < 5; item++) eraseContent(ledger, 1, item);
  const report = await verifyLedger(ledger);
  assert.deepEqual([report.problems, report.erasedItems, report.contentItems], [[], 5, 5]);
});

test("erased content without an entry is missing, and reported at its record", async () => {
  const ledger = opened();
  readOnlyCall(ledger, 1);
  readOnlyCall(ledger, 2);
  eraseContent(ledger, 2, 0);
  eraseSilently(ledger, 1, 4);
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 content_missing"]);
});

test("reports an erasure that did not happen or is repeated", async () => {
  const ledger = opened();
  readOnlyCall(ledger, 1);
  const told: EntryPlain = { case: "contentErased", value: { recordIndex: 1, item: 2 } };
  ledger.append({ chain: "system", entries: [told] });
  eraseContent(ledger, 1, 0);
  ledger.append({ chain: "system", entries: [{ case: "contentErased", value: { recordIndex: 1 } }] });
  assert.deepEqual(named(await verifyLedger(ledger)), ["2 erasure_contradicts", "4 erasure_contradicts"]);
});

test("one erasure does not excuse two missing commitments", async () => {
  const ledger = opened();
  const first = ledger.commit(ContentRole.PUT, "one");
  const second = ledger.commit(ContentRole.PUT, "two");
  ledger.append({
    chain: SESSION,
    entries: [stored(first, 3), stored(second, 3)],
    items: [first.item],
  });
  eraseContent(ledger, 1, 0);
  assert.deepEqual(named(await verifyLedger(ledger)), ["1 commitment_unopened"]);
});

test("a session may hold granted content; the system gets no grants", async () => {
  for (const [chain, expected] of [
    [SESSION, []],
    ["system", ["2 content_unclaimed"]],
  ] as const) {
    const ledger = opened();
    put(ledger, ledger.commit(ContentRole.PUT, "shared"));
    const granted = ledger.commitElsewhere(ContentRole.GRANTED, utf8("shared")).item;
    ledger.append({ chain, entries: [{ case: "budgetExceeded", value: { dimension: "calls" } }], items: [granted] });
    assert.deepEqual(named(await verifyLedger(ledger)), expected);
  }
});

test("verifies a record with very many entries and items in time proportional to their number", async () => {
  const ledger = opened();
  const contents = Array.from({ length: 20_000 }, (_, i) => ledger.commit(ContentRole.PUT, String(i)));
  const missing = ledger.commit(ContentRole.PUT, "missing");
  ledger.append({
    chain: SESSION,
    entries: [...contents, missing].map((content) => stored(content, Number(content.item.size))),
    items: contents.map((content) => content.item).toReversed(),
  });
  const report = await verifyLedger(ledger);
  assert.deepEqual([named(report), report.contentItems], [["1 commitment_unopened"], 20_000]);
});

function opened(): LedgerBuilder {
  const ledger = new LedgerBuilder();
  openSession(ledger);
  return ledger;
}

function stored(content: Committed, size: number): EntryPlain {
  return { case: "contentStored", value: { contentCommitment: content.commitment, size } };
}

function put(ledger: LedgerBuilder, content: Committed, size = Number(content.item.size ?? 0)): void {
  ledger.append({ chain: SESSION, entries: [stored(content, size)], items: [content.item] });
}

function sourceOf(ledger: LedgerBuilder, readFile: LedgerSource["readFile"]): LedgerSource {
  return { records: () => ledger.records(), readFile };
}

function named(report: Awaited<ReturnType<typeof verifyLedger>>): string[] {
  return report.problems.map((problem) => `${problem.recordIndex} ${problem.code}`);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { hashRecord, type RecordMessage, RecordSchema, create, fromBinary, toBinary, toHex } from "@narthex/contracts";
import type { LedgerSource } from "../ledger-source.ts";
import { LedgerBuilder } from "../testing/ledger-builder.ts";
import { treeFiles, rootOf, SignedTree, testKey, tilesOf } from "../testing/signed-tree.ts";
import { verifyLedger } from "../verify-ledger.ts";
import type { VerifyOptions } from "../walk-ledger.ts";
import type { VerifyReport } from "../verify-report.ts";
import { type Checkpoint, parseCheckpoint } from "./checkpoint.ts";
import { parseVerifierKey } from "./verifier-key.ts";

const KEY = testKey("first");
const NEXT = testKey("second");
const OTHER = testKey("somebody else");

/** So many records and a signature for them, again and again. */
function signedLedger(runs: readonly number[], key = KEY, seed = "ledger"): { log: SignedTree; notes: string[] } {
  const log = new SignedTree(new LedgerBuilder(seed));
  log.announce(key);
  return { log, notes: runs.map((records) => extend(log, records)) };
}

function extend(log: SignedTree, records: number): string {
  for (let i = 0; i < records; i++) refuse(log.ledger, `${log.ledger.rows.length}`);
  return log.checkpoint();
}

function refuse(ledger: LedgerBuilder, door: string): void {
  ledger.append({ chain: "system", entries: [{ case: "requestRefused", value: { door, reason: "x", count: 1 } }] });
}

function kept(note: string | undefined): Checkpoint {
  const checkpoint = parseCheckpoint(note ?? "");
  assert.ok(checkpoint !== undefined);
  return checkpoint;
}

function verify(source: LedgerSource, options: VerifyOptions & { readonly key?: { readonly text: string } } = {}) {
  const { key, ...rest } = options;
  return verifyLedger(source, { ...rest, trustedKey: key && parseVerifierKey(key.text) });
}

function first(report: VerifyReport): readonly [string, number] | undefined {
  const [problem] = report.problems;
  return problem && [problem.code, problem.recordIndex];
}

/** Changes what a record says, and then all that follows from it, as somebody does who can write the whole store. */
function rewriteFrom(ledger: LedgerBuilder, index: number): void {
  let previous: Uint8Array | undefined;
  ledger.rows = ledger.rows.map((row, i) => {
    if (i < index) return row;
    const message: RecordMessage = fromBinary(RecordSchema, row.record);
    if (i === index) message.wallTimeMs += 1n;
    else if (previous !== undefined) message.previousHash = new Uint8Array(previous);
    const record = toBinary(RecordSchema, create(RecordSchema, message));
    previous = hashRecord(record);
    return { ...row, record, hash: previous };
  });
}

test("a ledger with checkpoints, handovers and tiles is sound, and the report says how much is proven", async () => {
  const { log } = signedLedger([3, 300, 1]);
  log.announce(NEXT);
  const note = extend(log, 700);
  refuse(log.ledger, "tail");
  const size = kept(note).size;
  const report = await verify(Object.assign(log.ledger, { log: treeFiles(log.ledger, note) }), {
    key: KEY,
    keptCheckpoints: [kept(note)],
  });
  assert.deepEqual(report.problems, []);
  assert.deepEqual(report.log, {
    origin: log.origin,
    verifierKey: NEXT.text,
    keyTrusted: true,
    keys: 2,
    checkpoints: 4,
    provenSize: size,
    provenRoot: Uint8Array.from(rootOf(log.ledger.rows.slice(0, size).map((row) => row.hash))),
    keptCheckpoints: 1,
    tiles: tilesOf(log.ledger, size).size,
    tilesMissing: 0,
  });
  assert.equal(report.unprovenTail, 2);
});

test("a checkpoint of every size has the root of the RFC", async () => {
  const { log } = signedLedger(new Array<number>(270).fill(0));
  const report = await verify(log.ledger);
  assert.deepEqual(report.problems, []);
  assert.equal(report.log.checkpoints, 270);
});

test("a rewritten chain is found at the next checkpoint, and by tiles at the exact record", async () => {
  for (const index of [4, 5, 200, 300]) {
    const { log, notes } = signedLedger([3, 400, 3]);
    const files = treeFiles(log.ledger, notes.at(-1) ?? "");
    rewriteFrom(log.ledger, index);
    const alone = await verify(log.ledger);
    assert.deepEqual(first(alone), ["checkpoint_root", 4]);
    assert.equal(alone.problemCount, 1);
    assert.equal(alone.log.provenSize, 4);
    assert.deepEqual(first(await verify(Object.assign(log.ledger, { log: files }))), ["tile_contradicts", index]);
  }
});

test("a truncated tail is found by a kept checkpoint, and by the home's own", async () => {
  const { log, notes } = signedLedger([10, 10]);
  log.ledger.rows = log.ledger.rows.slice(0, 15);
  assert.equal((await verify(log.ledger)).problemCount, 0);
  const report = await verify(log.ledger, { keptCheckpoints: [kept(notes[1])] });
  assert.deepEqual(first(report), ["log_rolled_back", 15]);
  assert.deepEqual([report.intact, report.complete], [true, false]);
  const shown = await verify(Object.assign(log.ledger, { log: treeFiles(log.ledger, notes[1] ?? "", new Map()) }));
  assert.deepEqual(first(shown), ["log_rolled_back", 15]);
});

test("a fork by the same key is found only with a kept checkpoint of the other branch", async () => {
  const { log, notes } = signedLedger([10]);
  const branch = new SignedTree(log.ledger.copy());
  Object.assign(branch, { key: log.key, lastSize: log.lastSize });
  refuse(branch.ledger, "another");
  const note = extend(branch, 3);
  extend(log, 4);
  assert.equal((await verify(log.ledger)).problemCount, 0);
  assert.equal((await verify(branch.ledger)).problemCount, 0);
  const both = { keptCheckpoints: [kept(note), kept(notes[0])] };
  assert.deepEqual(first(await verify(log.ledger, both)), ["log_forked", kept(notes[0]).size]);
  assert.deepEqual(first(await verify(log.ledger, { keptCheckpoints: [kept(note)] })), ["log_forked", 0]);
});

test("a tree signed by another key is found by the key and by a kept checkpoint", async () => {
  const mine = signedLedger([5, 5]);
  const theirs = signedLedger([5, 5], OTHER);
  assert.equal((await verify(theirs.log.ledger)).problemCount, 0);
  assert.deepEqual(first(await verify(theirs.log.ledger, { key: KEY })), ["log_key_untrusted", 0]);
  assert.equal((await verify(theirs.log.ledger, { key: KEY })).unprovenTail, theirs.log.ledger.rows.length);
  const report = await verify(theirs.log.ledger, { keptCheckpoints: [kept(mine.notes[0])] });
  assert.equal(report.intact, false);
  assert.ok(report.problems.some(({ code }) => code === "log_key_untrusted"));
});

test("a ledger without checkpoints does not match a given key", async () => {
  const ledger = new LedgerBuilder();
  refuse(ledger, "x");
  assert.equal((await verify(ledger)).problemCount, 0);
  assert.deepEqual(first(await verify(ledger, { key: KEY })), ["log_key_untrusted", 0]);
});

test("accepts a key only from its predecessor", async () => {
  const wrong: readonly ((log: SignedTree) => void)[] = [
    (log) => Object.assign(log, { key: OTHER }),
    (log) => Object.assign(log, { key: undefined }),
    (log) => Object.assign(log, { key: { ...OTHER, text: KEY.text } }),
    (log) => Object.assign(log, { lastSize: 1 }),
  ];
  for (const pretend of wrong) {
    const { log } = signedLedger([5]);
    pretend(log);
    const index = log.ledger.rows.length;
    log.announce(NEXT);
    assert.deepEqual(first(await verify(log.ledger)), ["log_key_broken", index]);
  }
});

test("a key started after a key loss is named, and not accepted as vouched for by the trusted key", async () => {
  const { log, notes } = signedLedger([5]);
  const index = log.ledger.rows.length;
  log.announce(NEXT, { lost: true });
  extend(log, 5);
  const unknown = await verify(log.ledger);
  assert.deepEqual([unknown.problemCount, unknown.log.keyLosses, unknown.log.checkpoints], [0, [index], 2]);
  const old = await verify(log.ledger, { key: KEY, keptCheckpoints: [kept(notes[0])] });
  assert.deepEqual(
    old.problems.map(({ code, recordIndex }) => [code, recordIndex]),
    [["log_key_lost", index]],
  );
  assert.deepEqual([old.log.provenSize, old.log.keyTrusted, old.intact], [kept(notes[0]).size, false, false]);
  const told = await verify(log.ledger, { key: NEXT, keptCheckpoints: [kept(notes[0])] });
  assert.deepEqual([told.problemCount, told.log.keyTrusted, told.log.keyLosses], [0, true, [index]]);
  // A signature that is there has to be good.
  const { log: forged } = signedLedger([5]);
  Object.assign(forged, { key: { ...OTHER, text: KEY.text } });
  forged.announce(NEXT);
  assert.equal(first(await verify(forged.ledger))?.[0], "log_key_broken");
});

test("trusting a later key does not require the first one", async () => {
  const { log } = signedLedger([5]);
  log.announce(NEXT);
  extend(log, 5);
  const report = await verify(log.ledger, { key: NEXT });
  assert.deepEqual(report.problems, []);
  assert.deepEqual([report.log.checkpoints, report.log.keyTrusted], [1, true]);
});

test("a checkpoint signed by another key, or for another size, proves nothing", async () => {
  const { log } = signedLedger([5]);
  const index = log.ledger.rows.length;
  log.checkpoint(index, { ...OTHER, id: KEY.id });
  assert.deepEqual(first(await verify(log.ledger)), ["checkpoint_signature", index]);
  const back = signedLedger([5]).log;
  back.checkpoint(3);
  assert.deepEqual(first(await verify(back.ledger)), ["checkpoint_broken", index]);
});

test("the hash of a node is not accepted as that of a record", async () => {
  const { log } = signedLedger([2, 2]);
  const [a, b] = tilesOf(log.ledger, 2).get("0/0/2") === undefined ? [] : log.ledger.rows;
  assert.ok(a !== undefined && b !== undefined);
  // Two leaves in one: whoever hashes nodes and leaves alike would find the same root.
  const leaves = Buffer.concat([rootOf([a.hash]), rootOf([b.hash])]);
  const node = rootOf([a.hash, b.hash]);
  assert.notEqual(toHex(rootOf([leaves])), toHex(node));
  log.ledger.rows[0] = { ...a, hash: new Uint8Array(leaves) };
  assert.deepEqual(first(await verify(log.ledger)), ["hash_mismatch", 0]);
});

test("reports an invalid newest checkpoint, and counts a missing tile", async () => {
  const { log, notes } = signedLedger([300]);
  const note = notes[0] ?? "";
  const missing = await verify(Object.assign(log.ledger, { log: treeFiles(log.ledger, note, new Map()) }));
  assert.deepEqual([missing.problemCount, missing.log.tiles, missing.log.tilesMissing], [0, 0, 3]);
  const garbage = { ...treeFiles(log.ledger, note), readCheckpoint: async () => note.slice(1) };
  assert.equal(first(await verify(Object.assign(log.ledger, { log: garbage })))?.[0], "log_contradicts");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { create, utf8 } from "@narthex/contracts";
import { VerifiedLedgerSchema } from "@narthex/contracts/verified";
import type { LedgerRow, LedgerSource } from "../ledger-source.ts";
import { parseCheckpoint } from "../merkle/checkpoint.ts";
import { parseVerifierKey } from "../merkle/verifier-key.ts";
import { LedgerBuilder } from "../testing/ledger-builder.ts";
import {
  callParts,
  closeSession,
  completeIntent,
  intentOf,
  OTHER_SESSION,
  openSession,
  readOnlyCall,
  startKernel,
} from "../testing/ledger-story.ts";
import { eraseContent, eraseSilently } from "../testing/sample-ledger.ts";
import { treeFiles, SignedTree, testKey } from "../testing/signed-tree.ts";
import { verifyLedger } from "../verify-ledger.ts";
import type { VerifyReport } from "../verify-report.ts";
import type { VerifyOptions } from "../walk-ledger.ts";
import { decodeVerified, encodeVerified, VerifiedFault } from "./verified-file.ts";

const KEY = testKey("first");
const NEXT = testKey("second");
/** The record of the first call, in every story. */
const CALL = 6;
/** One that nothing comes back to. */
const CHANGED = 2;
const NOW_MS = 1_789_100_000_000;

interface Moment {
  readonly ledger: LedgerBuilder;
  readonly note: string;
}

/** A ledger as it was after every step of a life with all that can be open across a checkpoint. */
function moments(key = KEY): Moment[] {
  const log = new SignedTree(new LedgerBuilder());
  const { ledger } = log;
  const all: Moment[] = [];
  let note = "";
  const step = (act: () => unknown): void => {
    const answer = act();
    if (typeof answer === "string") note = answer;
    all.push({ ledger: ledger.copy(), note });
  };
  startKernel(ledger);
  log.announce(key);
  openSession(ledger);
  step(() => log.checkpoint());
  step(() => readOnlyCall(ledger, 1));
  const intent = intentOf(ledger, 2);
  const call = callParts(ledger, 3, { approve: "human" });
  const asked = { approvalId: "apr_aaaaaaaaaaaaaaaaaaaa", expiresAtMs: 1_789_000_900_000, kind: "human" };
  step(() => {
    const entries = [call.invoked, call.checked, call.decided, { case: "approvalRequested" as const, value: asked }];
    ledger.append({ chain: "ses_aaaaaaaaaaaaaaaaaaaa", requestId: call.requestId, entries, items: call.items });
  });
  step(() => log.checkpoint());
  step(() => openSession(ledger, OTHER_SESSION));
  step(() => eraseContent(ledger, CALL, 0));
  step(() => completeIntent(ledger, intent));
  step(() => {
    const answer = { approvalId: asked.approvalId, answer: "approved", door: "callback", approver: "ada" };
    ledger.append({
      chain: "ses_aaaaaaaaaaaaaaaaaaaa",
      requestId: call.requestId,
      entries: [{ case: "approvalResolved", value: answer }, call.checked, call.decided, call.started, call.completed],
      items: [call.result],
      logicalTimeMs: call.logicalTimeMs,
    });
  });
  step(() => log.announce(NEXT));
  step(() => closeSession(ledger));
  step(() => {
    for (let i = 0; i < 300; i++) {
      const value = { door: "framed", reason: "x", count: i + 1 };
      ledger.append({ chain: "system", entries: [{ case: "requestRefused", value }] });
    }
    return log.checkpoint();
  });
  step(() => eraseContent(ledger, CALL, 1));
  return all;
}

function sourceOf({ ledger, note }: Moment): LedgerSource {
  return Object.assign(ledger.copy(), note !== "" && { log: treeFiles(ledger, note) });
}

/** Which records were asked for, and how many rows that gave. */
function counted(source: LedgerSource): { readonly source: LedgerSource; readonly read: () => number } {
  let read = 0;
  async function* records(from?: number): AsyncGenerator<LedgerRow> {
    for await (const row of source.records(from)) {
      read++;
      yield row;
    }
  }
  return { source: Object.assign(Object.create(source) as LedgerSource, { records }), read: () => read };
}

async function verifiedAt(moment: Moment, options: VerifyOptions = {}): Promise<Uint8Array> {
  const { verified, notRemembered } = await verifyLedger(sourceOf(moment), { ...options, nowMs: NOW_MS });
  assert.ok(verified !== undefined, notRemembered);
  return verified;
}

function withoutMemory({ before: _before, verified: _verified, log, ...report }: VerifyReport): object {
  return { ...report, log: { ...log, tiles: 0 } };
}

function momentOf(all: readonly Moment[], at: number): Moment {
  const moment = all.at(at);
  assert.ok(moment !== undefined);
  return moment;
}

async function rejectsWith(promise: Promise<unknown>, words: RegExp): Promise<void> {
  await assert.rejects(promise, (fault) => fault instanceof VerifiedFault && words.test(fault.message));
}

test("a resumed run from any point to any later one finds the same as a full run", async () => {
  const all = moments();
  for (const [i, earlier] of all.entries()) {
    const before = await verifiedAt(earlier);
    for (const later of all.slice(i)) {
      const options = { nowMs: NOW_MS, trustedKey: parseVerifierKey(KEY.text) };
      const { source, read } = counted(sourceOf(later));
      const resumed = await verifyLedger(source, { ...options, before });
      const whole = await verifyLedger(sourceOf(later), options);
      assert.deepEqual(withoutMemory(resumed), withoutMemory(whole));
      assert.deepEqual(resumed.verified, whole.verified);
      assert.equal(resumed.before?.records, earlier.ledger.rows.length);
      assert.deepEqual(resumed.before?.checkpointSize, parseCheckpoint(earlier.note)?.size);
      // The last one that was read before, the new ones, and those that were erased since.
      const fresh = later.ledger.rows.length - earlier.ledger.rows.length;
      assert.ok(read() >= fresh + 1 && read() <= fresh + 3, `${read()} rows for ${fresh}`);
    }
  }
});

test("finds a change after the last record that was read, and reports on everything", async () => {
  const all = moments();
  const before = await verifiedAt(momentOf(all, 3));
  const { ledger, note } = momentOf(all, -1);
  const row = ledger.rows.at(-3);
  assert.ok(row !== undefined);
  ledger.rows[row.index] = { ...row, record: row.record.map((byte, i) => (i === 9 ? byte ^ 1 : byte)) };
  const report = await verifyLedger(sourceOf({ ledger, note }), { before });
  assert.deepEqual([report.problems[0]?.code, report.problems[0]?.recordIndex], ["hash_mismatch", row.index]);
  assert.equal(report.before, undefined);
});

test("reports a ledger shorter than before as rolled back, also behind the last checkpoint", async () => {
  const all = moments();
  const before = await verifiedAt(momentOf(all, 7));
  for (const at of [3, 6]) {
    const report = await verifyLedger(sourceOf(momentOf(all, at)), { before });
    const missing = momentOf(all, at).ledger.rows.length;
    assert.deepEqual(
      report.problems.map(({ code, recordIndex }) => [code, recordIndex]),
      [["log_rolled_back", missing]],
    );
    assert.equal(report.complete, false);
  }
});

test("finds that another ledger replaced the verified one, whatever its signer or length", async () => {
  const before = await verifiedAt(momentOf(moments(), 7));
  for (const key of [testKey("somebody else"), testKey("somebody else", "narthex/log_bbbbbbbbbbbbbbbbbbbb")]) {
    const foreign = moments(key).filter((_, i) => i < 8);
    const { ledger, note } = momentOf(foreign, -1);
    for (let i = 0; i < 50; i++) readOnlyCall(ledger, 100 + i, {}, OTHER_SESSION);
    const report = await verifyLedger(sourceOf({ ledger, note }), { before });
    assert.equal(report.problems[0]?.code, "log_forked");
  }
});

test("finds a changed older record at the next signed checkpoint", async () => {
  const all = moments();
  const before = await verifiedAt(momentOf(all, 3));
  const tampered = momentOf(all, -1);
  const row = tampered.ledger.rows[CHANGED];
  assert.ok(row !== undefined);
  tampered.ledger.rows[CHANGED] = { ...row, record: row.record.map((byte, i) => (i === 9 ? byte ^ 1 : byte)) };
  // It is not read again: this is what going on from an earlier run means, and what the report says.
  const unseen = await verifyLedger(sourceOf(tampered), { before });
  assert.deepEqual([unseen.problemCount, unseen.before?.records], [0, momentOf(all, 3).ledger.rows.length]);
  // Signed for with the change in it, the tree is no longer the one that was seen.
  const signed = new SignedTree(tampered.ledger);
  Object.assign(signed, { key: NEXT, lastSize: parseCheckpoint(tampered.note)?.size });
  tampered.ledger.rows[CHANGED] = { ...row, hash: row.hash.map((byte) => byte ^ 1) };
  const note = signed.checkpoint();
  const report = await verifyLedger(sourceOf({ ledger: tampered.ledger, note }), { before });
  assert.ok(report.problems.some(({ code, recordIndex }) => code === "hash_mismatch" && recordIndex === CHANGED));
  assert.ok(report.problems.some(({ code }) => code === "log_forked"));
});

test("finds an older item with a false or repeated erasure", async () => {
  const all = moments();
  const before = await verifiedAt(momentOf(all, 3));
  const value = { recordIndex: CALL, item: 2, reason: "retention" };
  const entries = [{ case: "contentErased" as const, value }];
  for (const times of [1, 2]) {
    const { ledger, note } = momentOf(moments(), 4);
    if (times === 2) eraseSilently(ledger, CALL, 2);
    for (let i = 0; i < times; i++) ledger.append({ chain: "system", entries });
    const report = await verifyLedger(sourceOf({ ledger, note }), { before });
    assert.deepEqual([report.problems[0]?.code, report.problemCount], ["erasure_contradicts", 1]);
  }
});

test("finds a wrong key, whatever was remembered without one", async () => {
  const moment = momentOf(moments(), 7);
  const before = await verifiedAt(moment);
  const report = await verifyLedger(sourceOf(moment), { before, trustedKey: parseVerifierKey(testKey("other").text) });
  assert.equal(report.problems[0]?.code, "log_key_untrusted");
});

test("a kept checkpoint counts if it was compared before, and otherwise needs a full run", async () => {
  const all = moments();
  const kept = parseCheckpoint(momentOf(all, 0).note);
  assert.ok(kept !== undefined);
  const [earlier, later] = [momentOf(all, 5), momentOf(all, -1)];
  const keptCheckpoints = [kept];
  const known = await verifiedAt(earlier, { keptCheckpoints });
  const report = await verifyLedger(sourceOf(later), { before: known, keptCheckpoints, nowMs: NOW_MS });
  assert.deepEqual([report.problemCount, report.log.keptCheckpoints], [0, 1]);
  // Nobody asks for it in between.
  const between = await verifyLedger(sourceOf(later), { before: known, nowMs: NOW_MS });
  const after = await verifyLedger(sourceOf(later), { before: between.verified, keptCheckpoints });
  assert.equal(after.log.keptCheckpoints, 1);
  const unknown = await verifiedAt(earlier);
  await rejectsWith(verifyLedger(sourceOf(later), { before: unknown, keptCheckpoints }), /kept checkpoint of \d+/);
});

test("remembers nothing that is unsigned or unsound", async () => {
  const ledger = new LedgerBuilder();
  startKernel(ledger);
  const unsigned = await verifyLedger(ledger, { nowMs: NOW_MS });
  assert.match(unsigned.notRemembered ?? "", /no checkpoint proves anything yet/);
  const moment = momentOf(moments(), 4);
  eraseSilently(moment.ledger, CALL, 0);
  const broken = await verifyLedger(sourceOf(moment), { nowMs: NOW_MS });
  assert.deepEqual([broken.verified, broken.notRemembered], [undefined, "something is wrong"]);
});

test("rejects a state that is damaged, or made up without the key", async () => {
  const moment = momentOf(moments(), 7);
  const good = await verifiedAt(moment);
  const stored = decodeVerified(good);
  const changed = (change: Partial<typeof stored>): Uint8Array => encodeVerified({ ...stored, ...change }) ?? good;
  const [first, ...others] = stored.chains;
  const [tile, ...tiles] = stored.edge;
  assert.ok(first !== undefined && tile !== undefined);
  const forged = testKey("somebody else");
  const cases: readonly (readonly [Uint8Array, RegExp])[] = [
    [utf8("something else"), /does not begin/],
    [good.slice(0, -1), /damaged/],
    [good.map((byte, i) => (i === 200 ? byte ^ 1 : byte)), /damaged/],
    [changed({ records: stored.records + 1n }), /not those of its log/],
    [changed({ keys: stored.keys.map((key) => ({ ...key, verifierKey: forged.text })) }), /none of its keys/],
    [changed({ checkpoint: momentOf(moments(), 0).note }), /tree is not the one/],
    [changed({ checkpoint: stored.checkpoint.replace("\n", "\n1") }), /none of its keys/],
    [changed({ edge: [{ ...tile, hashes: tile.hashes.map((byte) => byte ^ 1) }, ...tiles] }), /tree is not the one/],
    [changed({ edge: [] }), /tree is not the one/],
    [changed({ tailHashes: stored.tailHashes.slice(32) }), /not those of its log/],
    [changed({ chains: others }), /chains are not its records/],
    [changed({ chains: [{ ...first, nextSequence: first.nextSequence + 1n }, ...others] }), /chains are not/],
    [changed({ headHash: stored.headHash.map((byte) => byte ^ 1) }), /not those of its log/],
  ];
  for (const [before, words] of cases) await rejectsWith(verifyLedger(sourceOf(moment), { before }), words);
  // What is only a lie about the state of a chain is found by the next record, and is not held against the ledger.
  const lied = changed({ chains: stored.chains.map((chain) => ({ ...chain, logicalTimeMs: 10n ** 15n })) });
  await rejectsWith(verifyLedger(sourceOf(momentOf(moments(), -1)), { before: lied }), /sound when all of it is read/);
});

test("keeps at most the limit", () => {
  const ledger = create(VerifiedLedgerSchema, { tailHashes: new Uint8Array(8 * 1024 * 1024) });
  assert.equal(encodeVerified(ledger), undefined);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import { openBundle } from "@narthex/verify";
import { createExported, fileOf, readBundle } from "./testing/test-bundle.ts";

const exported = await createExported();
const [busy, secretive, idle] = exported.sessions;

async function soundReport(bytes: Uint8Array) {
  const report = await readBundle(bytes);
  assert.ok(report !== "unreadable");
  assert.deepEqual(report.problems, []);
  assert.ok(report.intact && report.complete);
  return report;
}

test("the same ledger gives the same bytes", async () => {
  assert.deepEqual(await exported.export(), await exported.export());
  assert.deepEqual(await exported.export(busy), await exported.export(busy));
  assert.notDeepEqual(await exported.export(busy), await exported.export(idle));
});

test("a bundle of the whole ledger is as sound as the ledger", async () => {
  const { nextIndex } = await exported.store.head();
  const report = await soundReport(await exported.export());
  assert.deepEqual([report.records, report.chains], [nextIndex, 4]);
});

test("a bundle of one session verifies without all other records", async () => {
  const report = await soundReport(await exported.export(busy));
  assert.deepEqual([report.chains, report.leftOutItems], [1, 0]);
  assert.ok(report.records < (await exported.store.head()).nextIndex);
  await soundReport(await exported.export(idle));
});

test("content is found by its hash, and repeated content is stored once", async () => {
  const bytes = await exported.export(busy);
  const bundle = await openBundle(fileOf(bytes));
  const long = utf8(JSON.stringify("x".repeat(100_000)));
  const found = await bundle.find(blake3(long));
  assert.equal(found?.size, long.length);
  const parts: Uint8Array[] = [];
  for await (const part of found?.stream(0, 0) ?? []) parts.push(part);
  assert.deepEqual(Buffer.concat(parts), Buffer.from(long));
  for await (const part of found?.stream(99_990, 5) ?? []) assert.equal(Buffer.from(part).toString(), "xxxxx");
  assert.equal(await bundle.find(blake3(utf8("not there"))), undefined);
  assert.ok(bytes.length < 150_000);
});

test("leaves out content labelled secret and keeps its hash", async () => {
  for (const bytes of [await exported.export(secretive), await exported.export()]) {
    for (const text of ["the combination", "something secret"])
      assert.equal(Buffer.from(bytes).indexOf(text), -1, text);
    const digest = blake3(utf8('"the combination is 1234"'));
    assert.notEqual(Buffer.from(bytes).indexOf(digest), -1, toHex(digest));
    assert.ok((await soundReport(bytes)).leftOutItems > 0);
  }
});

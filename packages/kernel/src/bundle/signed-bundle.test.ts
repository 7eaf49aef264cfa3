import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BUNDLE_PART_HEAD_BYTES,
  BUNDLE_PARTS,
  BUNDLE_TAIL_BYTES,
  blake3,
  fromBinary,
  hashRecord,
  RecordSchema,
  toBinary,
} from "@narthex/contracts";
import { openBundle, parseVerifierKey, verifyBundle } from "@narthex/verify";
import fc from "fast-check";
import { leafHash, nodeHash } from "../merkle/tree-hash.ts";
import { naiveRoot } from "../merkle/testing/naive-tree.ts";
import { siblingRanges } from "./bundled-tree.ts";
import { createExported, fileOf } from "./testing/test-bundle.ts";
import { announce, createTestKey, createTestTree, note, type TestKey } from "./testing/test-tree.ts";

const exported = await createExported();
const [busy, , idle] = exported.sessions;
const { nextIndex } = await exported.store.head();
const [first, second] = [createTestKey(), createTestKey()];

async function verified(bytes: Uint8Array, trusted?: TestKey) {
  const trustedKey = trusted && parseVerifierKey(trusted.text);
  return await verifyBundle(await openBundle(fileOf(bytes)), { trustedKey });
}

const codesOf = ({ problems }: Awaited<ReturnType<typeof verified>>): string[] => problems.map(({ code }) => code);

test("proves that a session's records are in the signed tree, without the records of others", async () => {
  for (const size of [nextIndex, nextIndex - 1, nextIndex - 9]) {
    const report = await verified(
      await exported.export(busy, await createTestTree(exported.store, size, [first])),
      first,
    );
    assert.deepEqual(codesOf(report), []);
    assert.deepEqual([report.log.provenSize, report.log.keyTrusted], [size, true]);
    const rows = await exported.store.readRecords({ chain: busy, limit: 1000 });
    assert.equal(report.unprovenTail, rows.filter(({ index }) => index >= size).length);
  }
});

test("a session that began after the checkpoint is sound but not proven", async () => {
  const [opened] = await exported.store.readRecords({ chain: idle, limit: 1 });
  const log = await createTestTree(exported.store, opened?.index ?? 0, [first]);
  const report = await verified(await exported.export(idle, log), first);
  assert.deepEqual([codesOf(report), report.log.provenSize, report.unprovenTail], [[], 0, report.records]);
});

test("accepts a key only if the trusted key handed over to it", async () => {
  const bytes = await exported.export(busy, await createTestTree(exported.store, nextIndex, [first, second]));
  assert.deepEqual(codesOf(await verified(bytes, first)), []);
  assert.deepEqual(codesOf(await verified(bytes, second)), []);
  assert.deepEqual(codesOf(await verified(bytes, createTestKey())), ["log_key_untrusted", "checkpoint_signature"]);
});

test("rejects a handover that the old key did not sign", async () => {
  const log = await createTestTree(exported.store, nextIndex, [first, second]);
  const [mine] = announce([first]);
  const text = `narthex/log-key/v1\n${first.text}\n${second.text}\n0\n`;
  const forged = note(text, [first, second]).replace(/— (.*) (.{8})./, (_, name, id) => `— ${name} ${id}/`);
  const broken = await verified(await exported.export(busy, { ...log, keys: [mine ?? "", forged] }), first);
  assert.deepEqual(codesOf(broken), ["log_key_broken", "checkpoint_signature"]);
  // Without any, it is a key that was begun after a loss, for whoever trusts none in particular.
  const begun = await exported.export(busy, { ...log, keys: [mine ?? "", note(text, [second])] });
  assert.deepEqual(codesOf(await verified(begun, first)), ["log_key_lost", "checkpoint_signature"]);
  const { problems, log: found } = await verified(begun);
  assert.deepEqual([problems, found.keyLosses], [[], [0]]);
});

test("names an invalid root, signature or note", async () => {
  const log = await createTestTree(exported.store, nextIndex, [first]);
  const cases: readonly [Partial<typeof log>, string][] = [
    [
      {
        checkpoint: log.checkpoint.replace(
          /— (.*) (.)/,
          (_, name, letter) => `— ${name} ${letter === "A" ? "B" : "A"}`,
        ),
      },
      "checkpoint_signature",
    ],
    [{ checkpoint: "something else\n" }, "checkpoint_broken"],
    [{ rangeHash: () => Promise.resolve(new Uint8Array(32)) }, "checkpoint_root"],
    [{ keys: ["no key\n"] }, "log_key_broken"],
  ];
  for (const [change, code] of cases) {
    assert.equal(codesOf(await verified(await exported.export(busy, { ...log, ...change })))[0], code);
  }
});

test("a session rewritten with all its hashes does not lead to the signed root", async () => {
  const bytes = await exported.export(busy, await createTestTree(exported.store, nextIndex, [first]));
  const forged = rewrite(bytes);
  assert.notDeepEqual(forged, bytes);
  assert.deepEqual(codesOf(await verified(forged, first)), ["checkpoint_root"]);
  // Without anything signed, nobody could tell.
  const unsigned = rewrite(await exported.export(busy));
  assert.deepEqual(codesOf(await verified(unsigned)), []);
});

/** Puts a second on every clock, and makes every hash right again: the chain's, and that of the file. */
function rewrite(bytes: Uint8Array): Uint8Array {
  const forged = Buffer.from(bytes);
  let previous: Uint8Array | undefined;
  for (let at = 8; at < forged.length; ) {
    const length = Number(forged.readBigUInt64BE(at + 1));
    const [start, end] = [at + BUNDLE_PART_HEAD_BYTES, at + BUNDLE_PART_HEAD_BYTES + length];
    if (forged[at] === BUNDLE_PARTS.record) {
      const record = fromBinary(RecordSchema, forged.subarray(start, end));
      record.wallTimeMs += 1000n;
      if (previous !== undefined) record.previousHash = previous;
      const changed = toBinary(RecordSchema, record);
      assert.equal(changed.length, length);
      forged.set(changed, start);
      previous = hashRecord(changed);
    }
    at = end;
  }
  const tail = forged.length - BUNDLE_PART_HEAD_BYTES - BUNDLE_TAIL_BYTES;
  forged.set(blake3(forged.subarray(0, tail)), forged.length - 32);
  return forged;
}

test("proofs for any records of any tree lead to the root with the fewest possible hashes", () => {
  const trees = fc
    .integer({ min: 1, max: 200 })
    .chain((size) => fc.tuple(fc.constant(size), fc.subarray([...Array(size).keys()], { minLength: 1 })));
  fc.assert(
    fc.property(trees, ([size, leaves]) => {
      const data = Array.from({ length: size }, (_, index) => Buffer.alloc(32, index));
      const beside = siblingRanges(leaves, size);
      const covered = beside.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, n) => start + n));
      assert.deepEqual(
        [...covered, ...leaves].sort((one, other) => one - other),
        [...data.keys()],
      );
      assert.ok(beside.length <= leaves.length * Math.ceil(Math.log2(size) + 1));
      const hashes = beside.map(({ start, end }) => naiveRoot(data.slice(start, end)));
      const climb = (start: number, end: number): Uint8Array => {
        if (!leaves.some((leaf) => leaf >= start && leaf < end)) return hashes.shift() ?? new Uint8Array(0);
        if (end - start === 1) return leafHash(data[start] ?? new Uint8Array(0));
        let half = 1;
        while (half * 2 < end - start) half *= 2;
        return nodeHash(climb(start, start + half), climb(start + half, end));
      };
      assert.deepEqual(Buffer.from(climb(0, size)), Buffer.from(naiveRoot(data)));
      assert.equal(hashes.length, 0);
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, commitTo, hashRecord } from "@narthex/contracts";
import { commitmentTo, hashOfRecord, sameBytes } from "./ledger-hash.ts";

for (const length of [0, 1, 31, 32, 600, 2016, 2017, 16 * 1024 - 32, 16 * 1024 - 31, 200_000]) {
  test(`a record of ${length} bytes hashes as the writer hashes it`, () => {
    const record = new Uint8Array(length).map((_, i) => i % 251);
    assert.deepEqual(hashOfRecord(record), hashRecord(record));
  });
}

test("a commitment equals the writer's, and differs with digest and nonce swapped", () => {
  const digest = blake3(Uint8Array.of(1));
  const nonce = blake3(Uint8Array.of(2));
  assert.deepEqual(commitmentTo(digest, nonce), commitTo(digest, nonce));
  assert.notDeepEqual(commitmentTo(digest, nonce), commitmentTo(nonce, digest));
});

test("arrays of different lengths are not equal", () => {
  assert.equal(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1)), false);
  assert.equal(sameBytes(Uint8Array.of(1), Uint8Array.of(1, 2)), false);
  assert.equal(sameBytes(new Uint8Array(0), new Uint8Array(0)), true);
});

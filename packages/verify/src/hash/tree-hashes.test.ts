import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { before, describe, it } from "node:test";
import { sha256Lanes } from "./sha256-lanes.ts";
import { hashLeaves, leafHash, nodeHash, perfectRoot } from "./tree-hashes.ts";

const SIZE = 32;
const sha = (...parts: readonly Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
const leaf = (hash: Uint8Array): Buffer => sha(Buffer.of(0), hash);
const node = (left: Uint8Array, right: Uint8Array): Buffer => sha(Buffer.of(1), left, right);

function split(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / SIZE }, (_, i) => bytes.subarray(i * SIZE, (i + 1) * SIZE));
}

function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  const [only = new Uint8Array(0)] = hashes;
  if (hashes.length <= 1) return only;
  const half = hashes.length / 2;
  return node(rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half)));
}

function check(): void {
  for (const count of [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 255, 256]) {
    const hashes = randomBytes(count * SIZE);
    const expected = Buffer.concat(split(hashes).map(leaf));
    // Within more bytes than its own, none of which may change.
    const around = Buffer.concat([Buffer.alloc(SIZE, 7), hashes, Buffer.alloc(SIZE, 9)]);
    hashLeaves(around.subarray(SIZE, SIZE + hashes.length));
    assert.deepEqual(
      around,
      Buffer.concat([Buffer.alloc(SIZE, 7), expected, Buffer.alloc(SIZE, 9)]),
      `${count} leaves`,
    );
  }
  for (const count of [1, 2, 4, 8, 16, 32, 64, 128, 256]) {
    const hashes = randomBytes(count * SIZE);
    const expected = rootOf(split(hashes));
    assert.deepEqual(Buffer.from(perfectRoot(hashes)), Buffer.from(expected), `a tree of ${count}`);
  }
}

describe("the hashes of a tree are those of OpenSSL", () => {
  it("one by one", () => {
    const [left, right] = [randomBytes(SIZE), randomBytes(SIZE)];
    assert.deepEqual(Buffer.from(leafHash(left)), leaf(left));
    assert.deepEqual(Buffer.from(nodeHash(left, right)), node(left, right));
    check();
  });

  describe("in lanes", () => {
    before(() => {
      assert.ok(sha256Lanes() !== undefined, "there are vectors here");
      // So many that they are taken from here on.
      for (let i = 0; i < 40; i++) hashLeaves(randomBytes(256 * SIZE));
    });

    it("in any number", () => {
      for (let i = 0; i < 20; i++) check();
    });
  });
});

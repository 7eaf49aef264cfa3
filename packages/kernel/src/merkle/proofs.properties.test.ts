import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { isConsistent, rootFromInclusionPath } from "./check-proof.ts";
import { GrowingTree } from "./growing-tree.ts";
import { naiveConsistency, naiveIncludes, naivePath, naiveRoot } from "./testing/naive-tree.ts";
import { MemoryTiles } from "./testing/memory-tiles.ts";
import { tilePath } from "./tile.ts";
import { proveConsistency, proveInclusion, tiledRoot } from "./tiled-proof.ts";
import { leafHash } from "./tree-hash.ts";

/** More than a tile, so that levels above the leaves take part. */
const MOST_LEAVES = 700;

function leavesOf(count: number, salt: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const leaf = Buffer.alloc(32);
    leaf.writeUInt32BE(index, 0);
    leaf.writeUInt32BE(salt, 4);
    return leaf;
  });
}

const trees = fc.record({
  size: fc.oneof(fc.integer({ min: 1, max: MOST_LEAVES }), fc.constantFrom(1, 2, 255, 256, 257, 511, 512, 513)),
  salt: fc.integer({ min: 0, max: 0xffff }),
  pick: fc.nat(),
});

test("every inclusion proof equals that of an independent implementation, and leads to the root", () => {
  fc.assert(
    fc.property(trees, ({ size, salt, pick }) => {
      const leaves = leavesOf(size, salt);
      const index = pick % size;
      const leaf = leaves[index] ?? Buffer.of();
      const root = naiveRoot(leaves);
      const path = proveInclusion(index, size, new MemoryTiles(leaves).read);
      assert.deepEqual(path.map(hex), naivePath(index, leaves).map(hex));
      assert.equal(hex(rootFromInclusionPath(leafHash(leaf), index, size, path)), hex(root));
      assert.equal(naiveIncludes(leaf, index, size, path, root), true);
    }),
    { numRuns: runsOf(60) },
  );
});

test("a changed, cut, longer or misplaced inclusion proof leads to another root", () => {
  fc.assert(
    fc.property(trees, fc.nat(), fc.nat({ max: 255 }), ({ size, salt, pick }, place, bit) => {
      const leaves = leavesOf(size, salt);
      const index = pick % size;
      const leaf = leafHash(leaves[index] ?? Buffer.of());
      const root = hex(naiveRoot(leaves));
      const path = proveInclusion(index, size, new MemoryTiles(leaves).read);
      const leadsThere = (...proof: Parameters<typeof rootFromInclusionPath>): boolean =>
        hex(rootFromInclusionPath(...proof)) === root;
      const flipped = path.map((hash, at) => (at === place % path.length ? flip(hash, bit) : hash));
      if (path.length > 0) assert.equal(leadsThere(leaf, index, size, flipped), false);
      assert.equal(leadsThere(flip(leaf, bit), index, size, path), false);
      assert.equal(leadsThere(leaf, index, size, [...path, leaf]), false);
      if (path.length > 0) assert.equal(leadsThere(leaf, index, size, path.slice(0, -1)), false);
      if (path.length > 0) assert.equal(leadsThere(leaf, (index + 1) % size, size, path), false);
      assert.equal(leadsThere(leaf, size, size, path), false);
    }),
    { numRuns: runsOf(60) },
  );
});

test("every consistency proof equals that of an independent implementation and is accepted; changed ones are rejected", () => {
  fc.assert(
    fc.property(trees, fc.nat(), fc.nat({ max: 255 }), ({ size: to, salt, pick }, place, bit) => {
      const leaves = leavesOf(to, salt);
      const from = 1 + (pick % to);
      const fromRoot = naiveRoot(leaves.slice(0, from));
      const toRoot = naiveRoot(leaves);
      const path = proveConsistency(from, to, new MemoryTiles(leaves).read);
      assert.deepEqual(path.map(hex), naiveConsistency(from, leaves).map(hex));
      const question = { from, fromRoot, to, toRoot, path };
      assert.equal(isConsistent(question), true);
      assert.equal(isConsistent({ ...question, fromRoot: flip(fromRoot, bit) }), false);
      assert.equal(isConsistent({ ...question, toRoot: flip(toRoot, bit) }), false);
      assert.equal(isConsistent({ ...question, path: [...path, toRoot] }), false);
      const flipped = path.map((hash, at) => (at === place % path.length ? flip(hash, bit) : hash));
      if (path.length > 0) assert.equal(isConsistent({ ...question, path: flipped }), false);
      if (path.length > 0) assert.equal(isConsistent({ ...question, path: path.slice(1) }), false);
      // Another history of the same length.
      const other = [...leaves.slice(0, from - 1), Buffer.alloc(32, 0xee), ...leaves.slice(from)];
      assert.equal(isConsistent({ ...question, toRoot: naiveRoot(other) }), false);
    }),
    { numRuns: runsOf(60) },
  );
});

test("a tree resumed from its partial tiles equals one that never stopped", () => {
  fc.assert(
    fc.property(trees, fc.nat({ max: 600 }), ({ size, salt }, more) => {
      const leaves = leavesOf(size + more, salt);
      const whole = new MemoryTiles(leaves);
      const first = new MemoryTiles(leaves.slice(0, size));
      const tree = GrowingTree.from(size, first.read, (tile) => first.put(tile));
      for (const leaf of leaves.slice(size)) tree.add(leaf);
      for (const tile of tree.partialTiles()) first.put(tile);
      assert.equal(hex(tree.root()), hex(whole.tree.root()));
      assert.equal(hex(tiledRoot(size + more, first.read)), hex(whole.tree.root()));
      for (const [path, hashes] of whole.tiles) assert.equal(hex(first.tiles.get(path)), hex(hashes), path);
    }),
    { numRuns: runsOf(40) },
  );
});

test("tiles have the paths that C2SP specifies", () => {
  assert.equal(tilePath({ level: 0, index: 0, width: 256 }), "0/000");
  assert.equal(tilePath({ level: 1, index: 1_234_067, width: 256 }), "1/x001/x234/067");
  assert.equal(tilePath({ level: 0, index: 273, width: 112 }), "0/273.p/112");
  assert.equal(tilePath({ level: 2, index: 1000, width: 1 }), "2/x001/000.p/1");
  // The page's own example: a tree of 70,000 leaves.
  const leaf = Buffer.alloc(32);
  const shelf = new MemoryTiles(Array.from({ length: 70_000 }, () => leaf));
  const paths = [...shelf.tiles.keys()];
  assert.equal(paths.filter((path) => /^0\/\d{3}$/.test(path)).length, 273);
  assert.deepEqual(
    paths.filter((path) => !/^0\/\d{3}$/.test(path)),
    ["1/000", "0/273.p/112", "1/001.p/17", "2/000.p/1"],
  );
});

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString("hex");
}

function flip(hash: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(hash);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

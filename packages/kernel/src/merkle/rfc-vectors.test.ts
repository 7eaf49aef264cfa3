import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@narthex/contracts";
import { isConsistent, rootFromInclusionPath } from "./check-proof.ts";
import { naiveConsistency, naivePath, naiveRoot } from "./testing/naive-tree.ts";
import { MemoryTiles } from "./testing/memory-tiles.ts";
import { proveConsistency, proveInclusion, tiledRoot } from "./tiled-proof.ts";
import { joinSubtrees, leafHash, nodeHash } from "./tree-hash.ts";

/** The example tree of the certificate-transparency project, which logs and their clients are tried with. */
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map(
  (hex) => Buffer.from(hex, "hex"),
);

const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const INCLUSION = [
  { index: 0, size: 1, path: [] },
  {
    index: 0,
    size: 8,
    path: [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
  },
  {
    index: 5,
    size: 8,
    path: [
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
  },
  { index: 2, size: 3, path: ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"] },
];

const CONSISTENCY = [
  { from: 1, to: 1, path: [] },
  {
    from: 1,
    to: 8,
    path: [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
  },
  {
    from: 6,
    to: 8,
    path: [
      "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
  },
  {
    from: 2,
    to: 5,
    path: [
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
  },
];

test("the published example tree has the published roots at every size", () => {
  assert.equal(toHex(joinSubtrees([])), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (const [place, root] of ROOTS.entries()) {
    const shelf = new MemoryTiles(LEAVES.slice(0, place + 1));
    assert.equal(toHex(shelf.tree.root()), root);
    assert.equal(toHex(tiledRoot(place + 1, shelf.read)), root);
    assert.equal(toHex(naiveRoot(LEAVES.slice(0, place + 1))), root);
  }
});

test("creates and accepts the published inclusion proofs", () => {
  for (const { index, size, path } of INCLUSION) {
    const made = proveInclusion(index, size, new MemoryTiles(LEAVES.slice(0, size)).read);
    assert.deepEqual(made.map(toHex), path);
    assert.deepEqual(naivePath(index, LEAVES.slice(0, size)).map(toHex), path);
    const leaf = leafHash(LEAVES[index] ?? Buffer.of());
    assert.equal(toHex(rootFromInclusionPath(leaf, index, size, made) ?? Buffer.of()), ROOTS[size - 1]);
  }
});

test("creates and accepts the published consistency proofs", () => {
  for (const { from, to, path } of CONSISTENCY) {
    const made = proveConsistency(from, to, new MemoryTiles(LEAVES.slice(0, to)).read);
    assert.deepEqual(made.map(toHex), path);
    assert.deepEqual(naiveConsistency(from, LEAVES.slice(0, to)).map(toHex), path);
    const fromRoot = Buffer.from(ROOTS[from - 1] ?? "", "hex");
    const toRoot = Buffer.from(ROOTS[to - 1] ?? "", "hex");
    assert.equal(isConsistent({ from, fromRoot, to, toRoot, path: made }), true);
  }
});

test("a leaf is not accepted as a node, nor a node as a leaf", () => {
  const [a, b] = [leafHash(Buffer.of(1)), leafHash(Buffer.of(2))];
  const node = nodeHash(a, b);
  // BAD-I-16: data that read like a node's hash other than the node.
  assert.notDeepEqual(leafHash(Buffer.concat([a, b])), node);
  assert.notDeepEqual(leafHash(Buffer.concat([Buffer.of(1), a, b])), node);
  // The root of two leaves, told as the one leaf of a smaller tree, is refused.
  assert.equal(rootFromInclusionPath(node, 0, 2, []), undefined);
  assert.notDeepEqual(rootFromInclusionPath(leafHash(node), 0, 1, []), node);
  assert.throws(() => nodeHash(a, Buffer.of(1)), RangeError);
});

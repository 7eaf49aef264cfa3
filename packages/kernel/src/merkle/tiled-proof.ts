import { locateSubtree, type TileAddress, tilePath } from "./tile.ts";
import { HASH_BYTES, joinSubtrees, perfectRoot } from "./tree-hash.ts";
import { auditPath, consistencyPath, type LeafRange, wholeSubtrees } from "./tree-shape.ts";

/** Reads a tile; returns as many hashes as its width. */
export type ReadTile = (place: TileAddress) => Uint8Array;

/** Creates the audit path of a leaf in the tree of this size. */
export function proveInclusion(index: number, size: number, read: ReadTile): Uint8Array[] {
  return hashRanges(auditPath(index, size), size, read);
}

/** Creates the proof that the tree of size `to` extends that of size `from`. */
export function proveConsistency(from: number, to: number, read: ReadTile): Uint8Array[] {
  return hashRanges(consistencyPath(from, to), to, read);
}

/** Computes the root of a tree from its tiles. */
export function tiledRoot(size: number, read: ReadTile): Uint8Array {
  const [root] = hashRanges([{ start: 0, end: size }], size, read);
  return root ?? joinSubtrees([]);
}

function hashRanges(ranges: readonly LeafRange[], size: number, read: ReadTile): Uint8Array[] {
  // Caches tiles, because a proof reads the same few tiles again and again.
  const tiles = new Map<string, Uint8Array>();
  const tileAt = (place: TileAddress): Uint8Array => {
    const path = tilePath(place);
    const hashes = tiles.get(path) ?? read(place);
    tiles.set(path, hashes);
    return hashes;
  };
  return ranges.map((range) => {
    const roots = wholeSubtrees(range).map((subtree) => {
      const { tile, first, count } = locateSubtree(subtree, size);
      return perfectRoot(tileAt(tile).subarray(first * HASH_BYTES, (first + count) * HASH_BYTES));
    });
    return joinSubtrees(roots);
  });
}

import { locateSubtree, type TileAddress, tilePath } from "./tile.ts";
import { HASH_BYTES, joinSubtrees, perfectRoot } from "./tree-hash.ts";
import { auditPath, consistencyPath, type LeafRange, wholeSubtrees } from "./tree-shape.ts";

/** Gives the hashes of a tile of the tree, so many as its width says. */
export type ReadTile = (place: TileAddress) => Uint8Array;

/** That the leaf is in the tree of this size. */
export function proveInclusion(index: number, size: number, read: ReadTile): Uint8Array[] {
  return hashRanges(auditPath(index, size), size, read);
}

/** That the tree of size `to` begins with that of size `from`. */
export function proveConsistency(from: number, to: number, read: ReadTile): Uint8Array[] {
  return hashRanges(consistencyPath(from, to), to, read);
}

/** The root of a tree, from its tiles. */
export function tiledRoot(size: number, read: ReadTile): Uint8Array {
  const [root] = hashRanges([{ start: 0, end: size }], size, read);
  return root ?? joinSubtrees([]);
}

function hashRanges(ranges: readonly LeafRange[], size: number, read: ReadTile): Uint8Array[] {
  // A proof looks into the same few tiles again and again.
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

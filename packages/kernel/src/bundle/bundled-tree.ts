import type { LeafRange } from "../merkle/tree-shape.ts";

/** The part of the Merkle tree that a bundle needs. */
export interface BundledTree {
  /** The newest checkpoint, as a signed note. */
  readonly checkpoint: string;
  readonly treeSize: number;
  /** The announcements of all keys, oldest first, as signed notes. */
  readonly keys: readonly string[];
  /** Computes the root hash of a range of leaves. */
  rangeHash(range: LeafRange): Promise<Uint8Array>;
}

/**
 * Returns the largest ranges of a tree that contain none of the given leaves, in the order of a walk from the root.
 * Their hashes and the leaves together give the root. SPEC: docs/formats/bundle.md, "Tree".
 */
export function siblingRanges(leaves: readonly number[], size: number): LeafRange[] {
  const beside: LeafRange[] = [];
  const walk = (start: number, end: number, from: number, to: number): void => {
    if (from === to) {
      if (end > start) beside.push({ start, end });
      return;
    }
    if (end - start === 1) return;
    let half = 1;
    while (half * 2 < end - start) half *= 2;
    const middle = start + half;
    let divide = from;
    while (divide < to && (leaves[divide] ?? 0) < middle) divide++;
    walk(start, middle, from, divide);
    walk(middle, end, divide, to);
  };
  walk(0, size, 0, leaves.length);
  return beside;
}

import type { LeafRange } from "../merkle/tree-shape.ts";

/** The Merkle log, as far as a bundle needs it. */
export interface BundledTree {
  /** The newest checkpoint, a signed note. */
  readonly checkpoint: string;
  readonly treeSize: number;
  /** The announcements of all keys, the first one first, as signed notes. */
  readonly keys: readonly string[];
  /** The root over some leaves of the tree. */
  rangeHash(range: LeafRange): Promise<Uint8Array>;
}

/**
 * The ranges of a tree that hold none of some leaves, as large as they can be and in the order in which a walk from the
 * root meets them. With the leaves themselves they give the root. SPEC: docs/formats/bundle.md, "Tree".
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

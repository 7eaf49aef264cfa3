/** Computes which subtrees a proof consists of. Sizes go up to 2^53, so no bit operations are used. */

/** The leaves from `start` up to, not including, `end`. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** The `index`-th subtree of 2^`height` leaves. */
export interface WholeSubtree {
  readonly height: number;
  readonly index: number;
}

/** The largest power of two below `count`: the size of the left subtree of a tree with `count` leaves. */
function divideAt(count: number): number {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
}

/** SPEC: RFC 6962, section 2.1.1. The subtrees beside the path from a leaf to the root, the lowest first. */
export function auditPath(index: number, size: number): LeafRange[] {
  if (!(Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size)) {
    throw new RangeError(`a tree of ${size} leaves has no leaf ${index}`);
  }
  const path: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + divideAt(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/** SPEC: RFC 6962, section 2.1.2. The subtrees that prove that a tree of `to` leaves extends that of `from`. */
export function consistencyPath(from: number, to: number): LeafRange[] {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && from <= to)) {
    throw new RangeError(`a tree of ${to} leaves does not extend one of ${from}`);
  }
  const path: LeafRange[] = [];
  let start = 0;
  let end = to;
  while (end !== from) {
    const middle = start + divideAt(end - start);
    if (from <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  // A subtree that starts where the old tree starts is the old tree itself; the verifier knows its root.
  if (start !== 0) path.push({ start, end });
  return path.reverse();
}

/** Splits a range of leaves into whole subtrees, the largest first. */
export function wholeSubtrees({ start, end }: LeafRange): WholeSubtree[] {
  const subtrees: WholeSubtree[] = [];
  for (let first = start; first < end; ) {
    let height = 0;
    let leaves = 1;
    while (first % (leaves * 2) === 0 && first + leaves * 2 <= end) {
      height++;
      leaves *= 2;
    }
    subtrees.push({ height, index: first / leaves });
    first += leaves;
  }
  return subtrees;
}

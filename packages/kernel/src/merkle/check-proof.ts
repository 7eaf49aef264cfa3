import { equalBytes } from "@narthex/contracts";
import { HASH_BYTES, nodeHash } from "./tree-hash.ts";

/**
 * SPEC: RFC 9162, section 2.1.3.2. Computes the root from a leaf and its audit path; undefined if the path does not fit
 * the index and the size.
 */
export function rootFromInclusionPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index >= size) return undefined;
  let place = index;
  let last = size - 1;
  let root = leaf;
  for (const hash of path) {
    if (last === 0 || hash.length !== HASH_BYTES) return undefined;
    if (place % 2 === 1 || place === last) {
      root = nodeHash(hash, root);
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      root = nodeHash(root, hash);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : undefined;
}

export interface ConsistencyClaim {
  readonly from: number;
  readonly fromRoot: Uint8Array;
  readonly to: number;
  readonly toRoot: Uint8Array;
  readonly path: readonly Uint8Array[];
}

/** SPEC: RFC 9162, section 2.1.4.2. Whether the newer tree extends the older one. */
export function isConsistent({ from, fromRoot, to, toRoot, path }: ConsistencyClaim): boolean {
  if (from < 1 || from > to || path.some(({ length }) => length !== HASH_BYTES)) return false;
  if (from === to) return path.length === 0 && equalBytes(fromRoot, toRoot);
  const [first, ...rest] = isPowerOfTwo(from) ? [fromRoot, ...path] : path;
  if (first === undefined) return false;
  let place = from - 1;
  let last = to - 1;
  while (place % 2 === 1) {
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  let older = first;
  let newer = first;
  for (const hash of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      older = nodeHash(hash, older);
      newer = nodeHash(hash, newer);
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      newer = nodeHash(newer, hash);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equalBytes(older, fromRoot) && equalBytes(newer, toRoot);
}

/** Avoids logarithms, which are rounded. */
function isPowerOfTwo(count: number): boolean {
  let rest = count;
  while (rest % 2 === 0) rest /= 2;
  return rest === 1;
}

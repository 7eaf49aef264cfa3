import { HASH_SIZE } from "@narthex/contracts";
import { sameBytes } from "../ledger-hash.ts";
import { nodeHash } from "../hash/tree-hashes.ts";

/**
 * SPEC: RFC 6962, section 2.1.1. The root computed from a leaf and its audit path; undefined if the path has the wrong
 * length.
 */
export function rootFromPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index >= size || path.some(({ length }) => length !== HASH_SIZE)) return undefined;
  if (size === 1) return path.length === 0 ? leaf : undefined;
  const beside = path.at(-1);
  if (beside === undefined) return undefined;
  const split = splitOf(size);
  const isLeft = index < split;
  const rest = path.slice(0, -1);
  const inner = isLeft ? rootFromPath(leaf, index, split, rest) : rootFromPath(leaf, index - split, size - split, rest);
  if (inner === undefined) return undefined;
  return isLeft ? nodeHash(inner, beside) : nodeHash(beside, inner);
}

export interface Tree {
  readonly size: number;
  readonly root: Uint8Array;
}

/** SPEC: RFC 6962, section 2.1.2. Whether the path proves that the newer tree extends the older one. */
export function isExtension(older: Tree, newer: Tree, path: readonly Uint8Array[]): boolean {
  if (older.size < 1 || older.size > newer.size || path.some(({ length }) => length !== HASH_SIZE)) return false;
  const roots = rootsFromPath(older.size, newer.size, path, older.root);
  return roots !== undefined && sameBytes(roots.older, older.root) && sameBytes(roots.newer, newer.root);
}

interface Roots {
  readonly older: Uint8Array;
  readonly newer: Uint8Array;
}

/** `known` is the older root while the older tree is the whole left part; after that its hashes come from the path. */
function rootsFromPath(
  older: number,
  newer: number,
  path: readonly Uint8Array[],
  known: Uint8Array | undefined,
): Roots | undefined {
  const last = path.at(-1);
  const rest = path.slice(0, -1);
  if (older === newer) {
    const same = known ?? last;
    const isAll = known === undefined ? rest.length === 0 : path.length === 0;
    return same === undefined || !isAll ? undefined : { older: same, newer: same };
  }
  if (last === undefined) return undefined;
  const split = splitOf(newer);
  if (older <= split) {
    const left = rootsFromPath(older, split, rest, known);
    return left && { older: left.older, newer: nodeHash(left.newer, last) };
  }
  const right = rootsFromPath(older - split, newer - split, rest, undefined);
  return right && { older: nodeHash(last, right.older), newer: nodeHash(last, right.newer) };
}

/** The largest power of two below a size. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

import { createHash } from "node:crypto";

/**
 * RFC 6962 and RFC 9162 implemented literally, on lists of leaves, sharing no code with the implementation under test.
 */

type Hash = Uint8Array;

function hash(...parts: readonly Uint8Array[]): Hash {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}

/** MTH(D[n]). */
export function naiveRoot(leaves: readonly Uint8Array[]): Hash {
  const [only] = leaves;
  if (only === undefined) return hash();
  if (leaves.length === 1) return hash(Buffer.of(0), only);
  const k = split(leaves.length);
  return hash(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** PATH(m, D[n]). */
export function naivePath(m: number, leaves: readonly Uint8Array[]): Hash[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const left = leaves.slice(0, k);
  const right = leaves.slice(k);
  return m < k ? [...naivePath(m, left), naiveRoot(right)] : [...naivePath(m - k, right), naiveRoot(left)];
}

/** PROOF(m, D[n]). */
export function naiveConsistency(m: number, leaves: readonly Uint8Array[]): Hash[] {
  return subproof(m, leaves, "known");
}

function subproof(m: number, leaves: readonly Uint8Array[], root: "known" | "unknown"): Hash[] {
  if (m === leaves.length) return root === "known" ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  const left = leaves.slice(0, k);
  const right = leaves.slice(k);
  return m <= k
    ? [...subproof(m, left, root), naiveRoot(right)]
    : [...subproof(m - k, right, "unknown"), naiveRoot(left)];
}

/** Whether a path leads from a leaf to a root, by the definition of an audit path. */
export function naiveIncludes(leaf: Uint8Array, m: number, n: number, path: readonly Hash[], root: Hash): boolean {
  const climb = (index: number, size: number, left: readonly Hash[]): Hash | undefined => {
    if (size === 1) return left.length === 0 ? hash(Buffer.of(0), leaf) : undefined;
    const top = left.at(-1);
    const k = split(size);
    const below = index < k ? climb(index, k, left.slice(0, -1)) : climb(index - k, size - k, left.slice(0, -1));
    if (top === undefined || below === undefined) return undefined;
    return index < k ? hash(Buffer.of(1), below, top) : hash(Buffer.of(1), top, below);
  };
  const found = climb(m, n, path);
  return found !== undefined && Buffer.compare(found, root) === 0;
}

function split(n: number): number {
  return 2 ** (Math.ceil(Math.log2(n)) - 1);
}

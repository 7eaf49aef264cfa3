import { sha256 } from "@narthex/contracts/sha256";

/** SPEC: RFC 6962, section 2.1. SECURITY: the first byte prevents a leaf from being taken for a node. */
const LEAF = 0x00;
const NODE = 0x01;
export const HASH_BYTES = 32;

const node = new Uint8Array(1 + 2 * HASH_BYTES);
node[0] = NODE;

/** Hashes the data of a leaf. */
export function leafHash(data: Uint8Array): Uint8Array {
  const leaf = new Uint8Array(1 + data.length);
  leaf[0] = LEAF;
  leaf.set(data, 1);
  return sha256(leaf);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) throw new RangeError("a node has two hashes below it");
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
}

/** Root over concatenated hashes; their number must be a power of two. */
export function perfectRoot(hashes: Uint8Array): Uint8Array {
  let count = hashes.length / HASH_BYTES;
  if (!Number.isInteger(Math.log2(count))) throw new RangeError(`${count} hashes are no whole tree`);
  const row = hashes.slice();
  for (; count > 1; count /= 2) {
    for (let place = 0; place < count / 2; place++) {
      node.set(row.subarray(2 * place * HASH_BYTES, (2 * place + 2) * HASH_BYTES), 1);
      row.set(sha256(node), place * HASH_BYTES);
    }
  }
  return row.slice(0, HASH_BYTES);
}

/** Root over the roots of adjacent whole subtrees, the largest first. */
export function joinSubtrees(roots: readonly Uint8Array[]): Uint8Array {
  const last = roots.at(-1);
  if (last === undefined) return sha256(new Uint8Array(0));
  return roots.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
}

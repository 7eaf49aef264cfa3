import { HASH_SIZE } from "@narthex/contracts";
import { leafHash, nodeHash } from "../hash/tree-hashes.ts";
import type { LedgerRow } from "../ledger-source.ts";
import { type BundleFile, BundleFault } from "./bundle-file.ts";

const WINDOW_HASHES = 4096;

/**
 * Computes the root of a tree with `size` leaves from the records and the sibling hashes, which are in the order of a
 * walk from the root. SPEC: docs/formats/bundle.md, "Tree". Undefined if they do not fit together.
 */
export async function computeBundleRoot(
  size: number,
  rows: AsyncIterable<LedgerRow>,
  file: BundleFile,
  tree: { readonly offset: number; readonly length: number },
): Promise<Uint8Array | undefined> {
  const leaves = new Leaves(rows, size);
  const beside = new SiblingHashes(file, tree);
  try {
    await leaves.advance();
    const root = await walk(0, size, leaves, beside);
    return leaves.isAtEnd && beside.isAtEnd ? root : undefined;
  } catch (fault) {
    if (fault instanceof BundleFault) return undefined;
    throw fault;
  } finally {
    await leaves.close();
  }
}

/** The recursion depth is at most that of a tree with 2^53 leaves. */
async function walk(start: number, end: number, leaves: Leaves, siblings: SiblingHashes): Promise<Uint8Array> {
  if (leaves.index >= end) return await siblings.take();
  if (end - start === 1) return await leaves.take();
  let half = 1;
  while (half * 2 < end - start) half *= 2;
  const left = await walk(start, start + half, leaves, siblings);
  const right = await walk(start + half, end, leaves, siblings);
  return nodeHash(left, right);
}

/** The records in the tree, one at a time in ascending order. */
class Leaves {
  /** Index of the next record; infinite after the last. */
  index = -1;
  readonly #rows: AsyncIterator<LedgerRow>;
  readonly #size: number;
  #hash: Uint8Array = new Uint8Array(0);

  constructor(rows: AsyncIterable<LedgerRow>, size: number) {
    this.#rows = rows[Symbol.asyncIterator]();
    this.#size = size;
  }

  get isAtEnd(): boolean {
    return this.index === Number.POSITIVE_INFINITY;
  }

  async take(): Promise<Uint8Array> {
    const leaf = leafHash(this.#hash);
    await this.advance();
    return leaf;
  }

  async advance(): Promise<void> {
    const next = await this.#rows.next();
    // Records after the checkpoint are not in its tree.
    if (next.done === true || next.value.index >= this.#size) {
      this.index = Number.POSITIVE_INFINITY;
      return;
    }
    if (next.value.index <= this.index) throw new BundleFault("its records are out of order");
    this.index = next.value.index;
    this.#hash = next.value.hash;
  }

  async close(): Promise<void> {
    await this.#rows.return?.();
  }
}

class SiblingHashes {
  readonly #file: BundleFile;
  readonly #end: number;
  #position: number;
  #window: Uint8Array = new Uint8Array(0);
  #used = 0;

  constructor(file: BundleFile, { offset, length }: { readonly offset: number; readonly length: number }) {
    this.#file = file;
    this.#position = offset;
    this.#end = offset + length;
  }

  get isAtEnd(): boolean {
    return this.#used === this.#window.length && this.#position === this.#end;
  }

  async take(): Promise<Uint8Array> {
    if (this.#used === this.#window.length) {
      const length = Math.min(WINDOW_HASHES * HASH_SIZE, this.#end - this.#position);
      if (length < HASH_SIZE) throw new BundleFault("hashes are missing beside its records");
      this.#window = await this.#file.read(this.#position, length);
      this.#position += length;
      this.#used = 0;
    }
    this.#used += HASH_SIZE;
    return this.#window.slice(this.#used - HASH_SIZE, this.#used);
  }
}

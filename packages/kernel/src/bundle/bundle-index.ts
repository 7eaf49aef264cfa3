import { BUNDLE_INDEX_ENTRY_BYTES, HASH_SIZE, KernelError } from "@narthex/contracts";

/** About 200 MB of memory; a ledger with more content is exported session by session. */
const MAX_ENTRIES = 1_000_000;
const FIRST_ENTRIES = 1024;

/** Position of content in a bundle, by digest. If the same content occurs twice, the first position counts. */
export class BundleIndex {
  #entries = new Uint8Array(FIRST_ENTRIES * BUNDLE_INDEX_ENTRY_BYTES);
  #count = 0;
  readonly #known = new Set<string>();

  has(digest: Uint8Array): boolean {
    return this.#known.has(keyOf(digest));
  }

  add(digest: Uint8Array, offset: number, size: number): void {
    const key = keyOf(digest);
    if (this.#known.has(key)) return;
    if (this.#count >= MAX_ENTRIES) {
      throw new KernelError(
        "RESOURCE_EXCEEDED",
        "there is too much content for one bundle: export sessions one by one",
      );
    }
    this.#known.add(key);
    const at = this.#count * BUNDLE_INDEX_ENTRY_BYTES;
    if (at === this.#entries.length) {
      const grown = new Uint8Array(this.#entries.length * 2);
      grown.set(this.#entries);
      this.#entries = grown;
    }
    this.#entries.set(digest, at);
    const view = new DataView(this.#entries.buffer, at + HASH_SIZE);
    view.setBigUint64(0, BigInt(offset));
    view.setBigUint64(8, BigInt(size));
    this.#count++;
  }

  /** Encodes all entries in ascending order of digest. */
  encode(): Uint8Array {
    const entry = (number: number): Buffer =>
      Buffer.from(this.#entries.buffer, number * BUNDLE_INDEX_ENTRY_BYTES, BUNDLE_INDEX_ENTRY_BYTES);
    const order = Uint32Array.from({ length: this.#count }, (_, number) => number);
    order.sort((one, other) => entry(one).compare(entry(other), 0, HASH_SIZE, 0, HASH_SIZE));
    const sorted = new Uint8Array(this.#count * BUNDLE_INDEX_ENTRY_BYTES);
    for (const [place, number] of order.entries()) sorted.set(entry(number), place * BUNDLE_INDEX_ENTRY_BYTES);
    return sorted;
  }
}

/** Returns the shortest possible map key of a digest. */
function keyOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("latin1");
}

import { BUNDLE_INDEX_ENTRY_BYTES, blake3, createBlake3, HASH_SIZE } from "@narthex/contracts";
import { sameBytes } from "../ledger-hash.ts";
import { type BundleFile, BundleFault } from "./bundle-file.ts";

/** Content in a bundle, wherever it is in the file. */
export interface BundledBytes {
  readonly size: number;
  /** A limit of 0 reads to the end. Reading all of the content throws unless the bytes have the hash. */
  stream(offset: number, limit: number): AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 1024 * 1024;

/** Finds content by reading the file itself, so that memory does not grow with the amount of content. */
export class BundleIndex {
  readonly #file: BundleFile;
  readonly #offset: number;
  readonly #count: number;

  constructor(file: BundleFile, offset: number, length: number) {
    if (length % BUNDLE_INDEX_ENTRY_BYTES !== 0) throw new BundleFault("its index has half an entry");
    this.#file = file;
    this.#offset = offset;
    this.#count = length / BUNDLE_INDEX_ENTRY_BYTES;
  }

  async find(digest: Uint8Array): Promise<BundledBytes | undefined> {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const entry = await this.#file.read(this.#offset + middle * BUNDLE_INDEX_ENTRY_BYTES, BUNDLE_INDEX_ENTRY_BYTES);
      const order = Buffer.compare(entry.subarray(0, HASH_SIZE), digest);
      if (order === 0) return this.#bytesOf(entry);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  #bytesOf(entry: Uint8Array): BundledBytes {
    const digest = entry.slice(0, HASH_SIZE);
    const numbers = new DataView(entry.buffer, entry.byteOffset + HASH_SIZE);
    const [offset, size] = [numbers.getBigUint64(0), numbers.getBigUint64(8)];
    if (offset + size > BigInt(this.#file.size)) throw new BundleFault("its index leads beyond the end");
    const place = { offset: Number(offset), size: Number(size) };
    return { size: place.size, stream: (from, limit) => readBytes(this.#file, digest, place, from, limit) };
  }
}

async function* readBytes(
  file: BundleFile,
  digest: Uint8Array,
  place: { readonly offset: number; readonly size: number },
  from: number,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const end = limit === 0 ? place.size : Math.min(place.size, from + limit);
  const isWhole = from === 0 && end === place.size;
  if (isWhole && end <= CHUNK_BYTES) {
    const bytes = await file.read(place.offset, end);
    if (!sameBytes(blake3(bytes), digest)) throw new BundleFault("content does not have the hash that it lies under");
    if (end > 0) yield bytes;
    return;
  }
  const hasher = isWhole ? createBlake3() : undefined;
  for (let at = from; at < end; at += CHUNK_BYTES) {
    const chunk = await file.read(place.offset + at, Math.min(CHUNK_BYTES, end - at));
    hasher?.update(chunk);
    yield chunk;
  }
  if (hasher !== undefined && !sameBytes(hasher.digest(), digest)) {
    throw new BundleFault("content does not have the hash that it lies under");
  }
}

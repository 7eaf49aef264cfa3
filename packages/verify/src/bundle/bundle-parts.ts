import { BUNDLE_LIMITS, BUNDLE_PART_HEAD_BYTES, BUNDLE_PARTS } from "@narthex/contracts";
import { type BundleFile, BundleFault } from "./bundle-file.ts";

/** The header of a part of a bundle. */
export interface BundlePart {
  readonly kind: number;
  /** Offset of the payload. */
  readonly offset: number;
  readonly length: number;
}

/** Maximum size of each kind of part that is read into memory. */
const LARGEST: ReadonlyMap<number, number> = new Map([
  [BUNDLE_PARTS.head, BUNDLE_LIMITS.headBytes],
  [BUNDLE_PARTS.record, BUNDLE_LIMITS.recordBytes],
  [BUNDLE_PARTS.content, BUNDLE_LIMITS.contentBytes],
  [BUNDLE_PARTS.key, BUNDLE_LIMITS.noteBytes],
  [BUNDLE_PARTS.checkpoint, BUNDLE_LIMITS.noteBytes],
]);
const WINDOW_BYTES = 1024 * 1024;

/** Reads parts in order, through a window over the file. */
export class PartReader {
  readonly #file: BundleFile;
  #window: Uint8Array = new Uint8Array(0);
  #windowAt = 0;
  /** Offset of the next part. */
  position: number;

  constructor(file: BundleFile, position: number) {
    this.#file = file;
    this.position = position;
  }

  /** SECURITY: a length beyond the end of the file is refused before anything is read or allocated for it. */
  async next(): Promise<BundlePart> {
    const head = await this.#read(this.position, BUNDLE_PART_HEAD_BYTES);
    const length = new DataView(head.buffer, head.byteOffset).getBigUint64(1);
    const offset = this.position + BUNDLE_PART_HEAD_BYTES;
    if (length > BigInt(this.#file.size - offset))
      throw new BundleFault(`a part at ${this.position} goes beyond the end`);
    this.position = offset + Number(length);
    return { kind: head[0] ?? 0, offset, length: Number(length) };
  }

  /** Reads the payload of a part. The caller owns the returned bytes. */
  async payload({ kind, offset, length }: BundlePart): Promise<Uint8Array> {
    if (length > (LARGEST.get(kind) ?? 0)) throw new BundleFault(`a part at ${offset} is larger than it may be`);
    return Uint8Array.from(await this.#read(offset, length));
  }

  async #read(offset: number, length: number): Promise<Uint8Array> {
    if (offset + length > this.#file.size) throw new BundleFault("it ends too early");
    if (length > WINDOW_BYTES) return await this.#file.read(offset, length);
    const end = this.#windowAt + this.#window.length;
    if (offset < this.#windowAt || offset + length > end) {
      this.#window = await this.#file.read(offset, Math.min(WINDOW_BYTES, this.#file.size - offset));
      this.#windowAt = offset;
    }
    return this.#window.subarray(offset - this.#windowAt, offset - this.#windowAt + length);
  }
}

import { blake3, ContentPlace, MAX_INLINE_RESULT_BYTES, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { ContentStore, ContentWriter } from "../ports.ts";
import { copyBytes } from "./copy-bytes.ts";
import { TailBytes } from "./tail-bytes.ts";

/** Content that has its place: in the record's own row, or in a file of the content store. */
export interface CollectedContent {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly place: ContentPlace;
  /** All of it, if it is at most 1 MB; else its beginning, enough for any view. */
  readonly head: Uint8Array;
  /** Its last bytes, where `head` is not all of it. */
  readonly tail?: Uint8Array | undefined;
}

const FIRST_BYTES = 1024;

/**
 * Takes content in pieces, in flat memory: small content stays there for its record's row, the rest goes to the
 * content store as it comes.
 */
export class ContentCollector {
  readonly #store: ContentStore;
  readonly #charge: (bytes: number) => void;
  #kept: Uint8Array = NO_BYTES;
  #keptBytes = 0;
  #size = 0;
  #writer: ContentWriter | undefined;
  /** Made when there is more than the head holds. */
  #tail: TailBytes | undefined;

  /** `charge` is asked before any byte is kept; what it throws refuses the chunk. */
  constructor(store: ContentStore, charge: (bytes: number) => void) {
    this.#store = store;
    this.#charge = charge;
  }

  /** How much has come so far. */
  get size(): number {
    return this.#size;
  }

  /** Keeps nothing of the chunk but a copy: it may be reused at once. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#charge(chunk.length);
    const before = this.head();
    this.#size += chunk.length;
    if (this.#keptBytes < MAX_INLINE_RESULT_BYTES) this.#keep(chunk);
    if (this.#size > MAX_INLINE_RESULT_BYTES) this.#keepEnd(before, chunk);
    if (this.#size <= MAX_ROW_CONTENT_BYTES) return;
    // Whoever gave the chunk may write over it while the disk is slow.
    const own = copyBytes(chunk);
    if (this.#writer === undefined) {
      this.#writer = await this.#store.openWriter();
      // INVARIANT: whatever fitted the row is all there was before this chunk.
      if (before.length > 0) await this.#writer.write(before);
    }
    await this.#writer.write(own);
  }

  /** All of it so far, if it is at most 1 MB; else its beginning. */
  head(): Uint8Array {
    return this.#kept.subarray(0, this.#keptBytes);
  }

  /** Durable when it resolves, unless its place is the row of a record still to be written. */
  async finish(): Promise<CollectedContent> {
    const head = copyBytes(this.head());
    if (this.#writer === undefined) return { digest: blake3(head), size: this.#size, place: ContentPlace.ROW, head };
    const committed = await this.#writer.commit();
    return { ...committed, place: ContentPlace.FILE, head, tail: this.#tail?.bytes() };
  }

  /** Leaves nothing behind. Harmless after `finish`. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  #keepEnd(before: Uint8Array, chunk: Uint8Array): void {
    if (this.#tail === undefined) {
      this.#tail = new TailBytes();
      this.#tail.write(before);
    }
    this.#tail.write(chunk);
  }

  /** One array that grows: many small chunks cost no more than one large one. */
  #keep(chunk: Uint8Array): void {
    const part = chunk.subarray(0, MAX_INLINE_RESULT_BYTES - this.#keptBytes);
    const needed = this.#keptBytes + part.length;
    if (needed > this.#kept.length) {
      const room = Math.min(MAX_INLINE_RESULT_BYTES, Math.max(needed, this.#kept.length * 2, FIRST_BYTES));
      const grown = new Uint8Array(room);
      grown.set(this.head());
      this.#kept = grown;
    }
    this.#kept.set(part, this.#keptBytes);
    this.#keptBytes = needed;
  }
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

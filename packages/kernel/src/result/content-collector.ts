import { blake3, ContentPlace, MAX_INLINE_RESULT_BYTES, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { ContentStore, ContentWriter } from "../ports.ts";
import { copyBytes } from "./copy-bytes.ts";
import { TailBytes } from "./tail-bytes.ts";

/** Collected content, stored in the record's own row or in a file of the content store. */
export interface CollectedContent {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly place: ContentPlace;
  /** The whole content if it has at most 1 MB; otherwise its beginning, enough for any view. */
  readonly head: Uint8Array;
  /** The last bytes, if `head` is not the whole content. */
  readonly tail?: Uint8Array | undefined;
}

const FIRST_BYTES = 1024;

/**
 * Collects content in chunks with constant memory: small content stays in memory for its record's row, larger content
 * is written to the content store as it arrives.
 */
export class ContentCollector {
  readonly #store: ContentStore;
  readonly #charge: (bytes: number) => void;
  #kept: Uint8Array = NO_BYTES;
  #keptBytes = 0;
  #size = 0;
  #writer: ContentWriter | undefined;
  /** Created once the content exceeds `head`. */
  #tail: TailBytes | undefined;

  /** `charge` is called before a chunk is kept; it throws to refuse the chunk. */
  constructor(store: ContentStore, charge: (bytes: number) => void) {
    this.#store = store;
    this.#charge = charge;
  }

  /** Number of bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Copies the chunk, so the caller may reuse its buffer at once. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#charge(chunk.length);
    const before = this.head();
    this.#size += chunk.length;
    if (this.#keptBytes < MAX_INLINE_RESULT_BYTES) this.#keep(chunk);
    if (this.#size > MAX_INLINE_RESULT_BYTES) this.#keepEnd(before, chunk);
    if (this.#size <= MAX_ROW_CONTENT_BYTES) return;
    // The caller may overwrite its buffer while the disk is slow.
    const own = copyBytes(chunk);
    if (this.#writer === undefined) {
      this.#writer = await this.#store.openWriter();
      // INVARIANT: `before` holds all content before this chunk, because it still fitted into a row.
      if (before.length > 0) await this.#writer.write(before);
    }
    await this.#writer.write(own);
  }

  /** The content so far if it has at most 1 MB; otherwise its beginning. */
  head(): Uint8Array {
    return this.#kept.subarray(0, this.#keptBytes);
  }

  /** When it resolves, the content is durable, unless it goes into the row of a record that is not written yet. */
  async finish(): Promise<CollectedContent> {
    const head = copyBytes(this.head());
    if (this.#writer === undefined) return { digest: blake3(head), size: this.#size, place: ContentPlace.ROW, head };
    const committed = await this.#writer.commit();
    return { ...committed, place: ContentPlace.FILE, head, tail: this.#tail?.bytes() };
  }

  /** Removes everything that was written. Has no effect after `finish`. */
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

  /** Uses one growing array, so that many small chunks take no more memory than one large one. */
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

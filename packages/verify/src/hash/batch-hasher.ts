import { blake3, ContentPlace, HASH_SIZE } from "@narthex/contracts";
import { COMMITMENT_TAG, commitmentTo, hashOfRecord, RECORD_TAG, TAG_BYTES } from "../ledger-hash.ts";
import { type DecodedContent, type DecodedItem, decodeContent } from "../ledger-messages.ts";
import type { LedgerRow } from "../ledger-source.ts";
import { isRow } from "../open-record.ts";
import { Malformed } from "../wire/decode-canonical.ts";
import { NO_BYTES } from "../wire/message-layout.ts";
import { Slice } from "../wire/slice.ts";
import { LANES, MAX_LANE_BYTES } from "./blake3-lanes.ts";
import { LaneQueue } from "./lane-queue.ts";

/** The hashes of a row. Valid until the next batch. */
export interface RowHashes {
  readonly record: Slice;
  readonly content: DecodedContent | Malformed;
  /** The commitment that an item opens. Empty if its digest or nonce has the wrong length. */
  commitment(item: number): Slice;
  /** The hash of an item's bytes in the row. Empty if it has none there. */
  data(item: number): Slice;
}

const ARENA_BYTES = 256 * 1024;
const MAX_RESULTS = 4096;
const BLOCK_BYTES = 64;
const ARENA = LANES.free;
const RESULTS = ARENA + ARENA_BYTES + BLOCK_BYTES;
const MEMORY_BYTES = RESULTS + MAX_RESULTS * HASH_SIZE;

/**
 * Computes all hashes of many rows together: of records, of bytes stored in rows, and the commitments of items. Most
 * inputs have a few hundred bytes, for which hashing four at once takes as long as one.
 */
export class BatchHasher {
  readonly #queue: LaneQueue | undefined = LaneQueue.open(MEMORY_BYTES, COMMITMENT_TAG);
  readonly #rows: HashedRow[] = [];
  readonly #recordsOnly: boolean;

  /** With `recordsOnly`, content is not hashed. */
  constructor({ recordsOnly = false }: { readonly recordsOnly?: boolean } = {}) {
    this.#recordsOnly = recordsOnly;
  }

  /**
   * Hashes the row at `from` and as many of the following ones as fit. Returns their number; 0 if the first row is
   * invalid.
   */
  hash(rows: readonly LedgerRow[], from: number): number {
    this.#rows.length = 0;
    let arena = ARENA;
    let results = 0;
    for (let at = from; at < rows.length; at++) {
      const row = rows[at];
      if (row === undefined || !isRow(row)) break;
      const content = this.#recordsOnly ? NO_CONTENT : decodeContent(row.content);
      const items = content instanceof Malformed ? [] : content.items;
      const bytes = TAG_BYTES + row.record.length + (items.length === 0 ? 0 : row.content.length);
      const wanted = 1 + 2 * items.length;
      const fits = arena + bytes <= ARENA + ARENA_BYTES && results + wanted <= MAX_RESULTS;
      if (this.#queue === undefined || (!fits && at === from)) {
        this.#rows.push(hashAlone(row, content, items));
        return 1;
      }
      if (!fits) break;
      this.#rows.push(
        this.#enqueue(this.#queue, { row, content, items, arena, results: RESULTS + results * HASH_SIZE }),
      );
      arena += bytes;
      results += wanted;
    }
    this.#queue?.finish();
    return this.#rows.length;
  }

  /** The hashes of the n-th row of the batch. */
  of(n: number): HashedRow {
    const row = this.#rows[n];
    if (row === undefined) throw new RangeError(`the batch has no row ${n}`);
    return row;
  }

  #enqueue(queue: LaneQueue, { row, content, items, arena, results }: Placed): HashedRow {
    const { memory } = queue;
    const recordBytes = TAG_BYTES + row.record.length;
    const contentAt = arena + recordBytes;
    memory.set(RECORD_TAG, arena);
    memory.set(row.record, arena + TAG_BYTES);
    if (items.length > 0) memory.set(row.content, contentAt);
    if (recordBytes <= MAX_LANE_BYTES) queue.hash(arena, recordBytes, results);
    else memory.set(hashOfRecord(row.record), results);
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (item === undefined) break;
      const result = results + (1 + 2 * i) * HASH_SIZE;
      if (isCommitted(item)) queue.commit(contentAt + item.nonce.start, contentAt + item.digest.start, result);
      if (item.place !== ContentPlace.ROW) continue;
      if (item.data.length <= MAX_LANE_BYTES)
        queue.hash(contentAt + item.data.start, item.data.length, result + HASH_SIZE);
      else memory.set(blake3(item.data.view()), result + HASH_SIZE);
    }
    return new HashedRow(content, items, memory, results);
  }
}

const NO_CONTENT: DecodedContent = Object.freeze({ items: Object.freeze([]) });

interface Placed {
  readonly row: LedgerRow;
  readonly content: DecodedContent | Malformed;
  readonly items: readonly DecodedItem[];
  readonly arena: number;
  readonly results: number;
}

export class HashedRow implements RowHashes {
  readonly record: Slice;
  readonly content: DecodedContent | Malformed;
  readonly #items: readonly DecodedItem[];
  readonly #bytes: Uint8Array;
  readonly #at: number;

  constructor(content: DecodedContent | Malformed, items: readonly DecodedItem[], bytes: Uint8Array, at: number) {
    this.record = new Slice(bytes, at, at + HASH_SIZE);
    this.content = content;
    this.#items = items;
    this.#bytes = bytes;
    this.#at = at + HASH_SIZE;
  }

  commitment(item: number): Slice {
    const found = this.#items[item];
    return found !== undefined && isCommitted(found) ? this.#result(2 * item) : NO_BYTES;
  }

  data(item: number): Slice {
    return this.#items[item]?.place === ContentPlace.ROW ? this.#result(2 * item + 1) : NO_BYTES;
  }

  /** All hashes in the format that the constructor takes. */
  results(): Uint8Array {
    const start = this.#at - HASH_SIZE;
    return this.#bytes.subarray(start, start + (1 + 2 * this.#items.length) * HASH_SIZE);
  }

  #result(n: number): Slice {
    const start = this.#at + n * HASH_SIZE;
    return new Slice(this.#bytes, start, start + HASH_SIZE);
  }
}

function isCommitted({ digest, nonce }: DecodedItem): boolean {
  return digest.length === HASH_SIZE && nonce.length === HASH_SIZE;
}

/** Hashes a row that is too large for a batch, or any row if lanes are not available. */
function hashAlone(row: LedgerRow, content: DecodedContent | Malformed, items: readonly DecodedItem[]): HashedRow {
  const results = new Uint8Array((1 + 2 * items.length) * HASH_SIZE);
  results.set(hashOfRecord(row.record));
  for (const [i, item] of items.entries()) {
    const at = (1 + 2 * i) * HASH_SIZE;
    if (isCommitted(item)) results.set(commitmentTo(item.digest.view(), item.nonce.view()), at);
    if (item.place === ContentPlace.ROW) results.set(blake3(item.data.view()), at + HASH_SIZE);
  }
  return new HashedRow(content, items, results, 0);
}

import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { ChainHead, Mentions, StateRow, StoredRecord, StoreHead } from "@narthex/kernel";
import type { Page, RequestPosition } from "./reader-messages.ts";
import { scanRecordTimes } from "./record-content.ts";
import type { RecordIndex } from "./record-index.ts";

type Row = { readonly [column: string]: SQLOutputValue };

const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS = 512;
const MAX_NEWEST = 1_000_000;
/** Number of bytes searched before other queries get a turn. */
const SEARCHED_BYTES = 4 * 1024 * 1024;
const ROW_BYTES = 256;

/** Reads records and committed state. Uses the index only for queries of one chain. */
export class RecordReader {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #index: RecordIndex;

  constructor(records: DatabaseSync, index: RecordIndex) {
    this.#statements = prepareStatements(records);
    this.#index = index;
  }

  head(): StoreHead {
    const last = this.#statements.last.get();
    if (last === undefined) return { nextIndex: 0, lastWallTimeMs: 0 };
    const { index, record } = toRecord(last);
    return { nextIndex: index + 1, lastWallTimeMs: scanRecordTimes(record).wallTimeMs };
  }

  chainHead(chain: string): ChainHead | undefined {
    const index = this.#index.chainHead(chain);
    const last = index === undefined ? undefined : this.readRecord(index);
    if (last === undefined) return undefined;
    const { logicalTimeMs } = scanRecordTimes(last.record);
    return { sequence: last.sequence, hash: last.hash, logicalTimeMs };
  }

  readRecord(index: number): StoredRecord | undefined {
    const row = this.#statements.one.get(index);
    return row === undefined ? undefined : toRecord(row);
  }

  findNewest(from: number, limit: number, chain: string | undefined): number {
    if (chain !== undefined) {
      return this.#index.chainRecords(chain, from, Math.min(limit, MAX_NEWEST), "newest")[0] ?? from;
    }
    return Math.max(from, this.head().nextIndex - limit);
  }

  readPage(from: number, limit: number, chain: string | undefined): Page<StoredRecord> {
    const most = Math.min(limit, PAGE_ROWS);
    if (chain === undefined) return takePage(this.#statements.from.iterate(from, most), most, toRecord, recordBytes);
    const places = this.#index.chainRecords(chain, from, most, "first");
    const rows = places.values().map((index) => this.#statements.one.get(index));
    return takePage(
      rows.filter((row) => row !== undefined),
      most,
      toRecord,
      recordBytes,
    );
  }

  requestPage(chain: string, from: number): Page<RequestPosition> {
    const places = this.#index.chainRecords(chain, from, PAGE_ROWS, "first");
    const rows = places.map((index) => {
      const row = this.#statements.requestId.get(index);
      return { index, sequence: Number(row?.["sequence"] ?? -1), requestId: String(row?.["request_id"] ?? "") };
    });
    return { rows, more: rows.length === PAGE_ROWS };
  }

  /** Searches a limited number of bytes. */
  findMentions(needles: readonly Uint8Array[], from: number): Mentions {
    const records: number[] = [];
    const wanted = needles.map((needle) => Buffer.from(needle));
    let bytes = 0;
    for (const row of this.#statements.contents.iterate(from)) {
      const { idx, content } = row;
      const index = Number(idx);
      if (content instanceof Uint8Array) {
        const held = Buffer.from(content.buffer, content.byteOffset, content.length);
        if (wanted.some((needle) => held.includes(needle))) records.push(index);
        bytes += content.length + ROW_BYTES;
      }
      if (bytes >= SEARCHED_BYTES) return { records, next: index + 1 };
    }
    return { records, next: undefined };
  }

  getState(table: number, key: string): Uint8Array | undefined {
    const value = this.#statements.state.get(table, key)?.["value"];
    return value instanceof Uint8Array ? value : undefined;
  }

  statePage(table: number, prefix: string, from: string, limit: number): Page<StateRow> {
    const most = Math.min(limit, PAGE_ROWS);
    const rows = this.#statements.stateFrom.iterate(table, from, most).map(toState);
    return takePage(whileStarting(rows, prefix), most, (row) => row, stateBytes);
  }
}

function prepareStatements(records: DatabaseSync) {
  const columns = "SELECT idx, chain, sequence, hash, record, content FROM records";
  return {
    last: records.prepare(`${columns} ORDER BY idx DESC LIMIT 1`),
    one: records.prepare(`${columns} WHERE idx = ?`),
    from: records.prepare(`${columns} WHERE idx >= ? ORDER BY idx LIMIT ?`),
    contents: records.prepare("SELECT idx, content FROM records WHERE idx >= ? ORDER BY idx"),
    requestId: records.prepare("SELECT sequence, request_id FROM records WHERE idx = ?"),
    state: records.prepare("SELECT value FROM state WHERE name = ? AND key = ?"),
    stateFrom: records.prepare("SELECT key, value FROM state WHERE name = ? AND key >= ? ORDER BY key LIMIT ?"),
  };
}

/** Ends a page when it is full in rows or in bytes. */
function takePage<R, T>(
  rows: Iterable<R>,
  limit: number,
  convert: (row: R) => T,
  measure: (value: T) => number,
): Page<T> {
  const taken: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    const value = convert(row);
    taken.push(value);
    bytes += measure(value);
    if (bytes >= PAGE_BYTES) return { rows: taken, more: true };
  }
  return { rows: taken, more: taken.length === limit };
}

function* whileStarting(rows: Iterable<StateRow>, prefix: string): Generator<StateRow> {
  for (const row of rows) {
    if (!row.key.startsWith(prefix)) return;
    yield row;
  }
}

function toRecord(row: Row): StoredRecord {
  const { idx, chain, sequence, hash, record, content } = row;
  if (typeof idx !== "number" || typeof chain !== "string" || typeof sequence !== "number") throw damaged(idx);
  if (!(hash instanceof Uint8Array) || !(record instanceof Uint8Array)) throw damaged(idx);
  if (!(content instanceof Uint8Array)) throw damaged(idx);
  return { index: idx, chain, sequence, hash, record, content };
}

function toState(row: Row): StateRow {
  const { key, value } = row;
  if (typeof key !== "string" || !(value instanceof Uint8Array)) throw new TypeError("a state row is damaged");
  return { key, value };
}

function damaged(index: SQLOutputValue | undefined): TypeError {
  return new TypeError(`record ${String(index)} is damaged`);
}

function recordBytes(record: StoredRecord): number {
  return record.record.length + record.content.length + 128;
}

function stateBytes(row: StateRow): number {
  return row.value.length + row.key.length + 64;
}

import { DatabaseSync } from "node:sqlite";
import type { LedgerRow, SkippedParts } from "../ledger-source.ts";

/**
 * SPEC: docs/formats/home.md, "records.db". Reads the records of a store exactly as its file has them: writes,
 * completes and refuses nothing.
 */
export interface LedgerFile {
  recordCount(): number;
  /**
   * Reads the records in pages, from an index on. Columns can contain anything: the file may not have been written by a
   * kernel.
   */
  pages(from?: number, skip?: SkippedParts): Generator<LedgerRow[]>;
  close(): void;
}

const PAGE_ROWS = 256;
const PAGE_BYTES = 1024 * 1024;

/**
 * Opens the file for inspection of a ledger with which no kernel would start. All reads see the same snapshot. Blocks
 * on the disk: for a command that does nothing else, or for a separate thread.
 */
export function openLedgerFile(path: string): LedgerFile {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("BEGIN");
    const count = database.prepare("SELECT max(idx) AS last FROM records");
    const joined = (content: string) => {
      const statement = database.prepare(`SELECT ${joinedColumns(content)} FROM records WHERE idx >= ? ORDER BY idx`);
      statement.setReturnArrays(true);
      return statement;
    };
    const [whole, withoutContent] = [joined("content"), joined("x''")];
    const odd = database.prepare(
      'SELECT idx AS "index", chain, sequence, hash, record, content FROM records WHERE idx = ?',
    );
    return {
      recordCount() {
        const last = count.get()?.["last"];
        return typeof last === "number" ? last + 1 : 0;
      },
      pages: (first = Number.MIN_SAFE_INTEGER, leave?: SkippedParts) =>
        inPages((leave?.content === true ? withoutContent : whole).iterate(first), (index) => odd.get(index)),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Selects the bytes in one piece: creating an array for each column takes as long as the rest of the work on a row. */
function joinedColumns(content: string): string {
  return `idx, chain, sequence, length(hash), length(record),
    CASE WHEN typeof(hash) = 'blob' AND typeof(record) = 'blob' AND typeof(${content}) = 'blob'
    THEN CAST(hash || record || ${content} AS BLOB) END`;
}

type Joined = readonly [index: number, chain: string, sequence: number, hash: number, record: number, bytes: unknown];

function* inPages(rows: Iterable<unknown>, readOdd: (index: number) => unknown): Generator<LedgerRow[]> {
  let page: LedgerRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    // The reader of these rows checks each column itself.
    const joined = row as Joined;
    const all = joined[5];
    page.push(all instanceof Uint8Array ? rowOf(joined, all) : (readOdd(joined[0]) as LedgerRow));
    bytes += all instanceof Uint8Array ? all.length : 0;
    if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

function rowOf([index, chain, sequence, hashEnd, recordLength]: Joined, bytes: Uint8Array): LedgerRow {
  const recordEnd = hashEnd + recordLength;
  return {
    index,
    chain,
    sequence,
    hash: bytes.subarray(0, hashEnd),
    record: bytes.subarray(hashEnd, recordEnd),
    content: bytes.subarray(recordEnd),
  };
}

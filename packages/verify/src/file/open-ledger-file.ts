import { DatabaseSync } from "node:sqlite";
import type { LedgerRow } from "../ledger-source.ts";

/** SPEC: docs/formats/home.md, "records.db". The records of a store as its file has them: nothing is written, nothing is completed, and nothing is refused. */
export interface LedgerFile {
  recordCount(): number;
  /** From a record on, in pages. Columns can hold anything: whoever wrote the file may not have been a kernel. */
  pages(from?: number): Generator<LedgerRow[]>;
  close(): void;
}

const PAGE_ROWS = 256;
const PAGE_BYTES = 1024 * 1024;

/**
 * Opens the file for somebody who looks into a ledger that no kernel would start on. Everything that is read is of one
 * moment. Waits for the disk where it is called: for a command that does nothing else, or a thread of its own.
 */
export function openLedgerFile(path: string): LedgerFile {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("BEGIN");
    const count = database.prepare("SELECT max(idx) AS last FROM records");
    const columns = 'idx AS "index", chain, sequence, hash, record, content';
    const from = database.prepare(`SELECT ${columns} FROM records WHERE idx >= ? ORDER BY idx`);
    return {
      recordCount() {
        const last = count.get()?.["last"];
        return typeof last === "number" ? last + 1 : 0;
      },
      pages: (first = Number.MIN_SAFE_INTEGER) => inPages(from.iterate(first)),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function* inPages(rows: Iterable<Readonly<Record<string, unknown>>>): Generator<LedgerRow[]> {
  let page: LedgerRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    // The reader of these looks at each column itself.
    const stored = row as unknown as LedgerRow;
    page.push(stored);
    bytes += sizeOf(stored.record) + sizeOf(stored.content);
    if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

function sizeOf(column: unknown): number {
  return column instanceof Uint8Array ? column.length : 0;
}

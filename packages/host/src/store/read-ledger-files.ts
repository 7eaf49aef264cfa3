import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { blake3, equalBytes, toHex } from "@narthex/contracts";
import { storePaths } from "./store-files.ts";

/** One record as stored. */
export interface LedgerFileRow {
  readonly index: number;
  readonly chain: string;
  readonly record: Uint8Array;
  readonly content: Uint8Array;
}

/** Read-only access to a home's records and content, also while a kernel uses the home. */
export interface LedgerFiles {
  records(): Generator<LedgerFileRow>;
  /** Returns the content of a file; undefined if none exists with that hash. */
  readFile(digest: Uint8Array): Uint8Array | undefined;
  close(): void;
}

const PAGE_ROWS = 256;
const WAIT_MS = 10_000;

/**
 * Opens a home's files for a short-lived program: reads block the thread. Records are read in pages, so that no kernel
 * has to wait.
 */
export function openLedgerFiles(storeDirectory: string, contentDirectory: string): LedgerFiles {
  const database = new DatabaseSync(storePaths(storeDirectory).records, { readOnly: true, timeout: WAIT_MS });
  const page = database.prepare("SELECT idx, chain, record, content FROM records WHERE idx >= ? ORDER BY idx LIMIT ?");
  return {
    *records() {
      for (let from = 0; ; ) {
        const rows = page.all(from, PAGE_ROWS);
        for (const { idx, chain, record, content } of rows) {
          from = Number(idx) + 1;
          if (!(record instanceof Uint8Array) || !(content instanceof Uint8Array)) continue;
          yield { index: Number(idx), chain: String(chain), record, content };
        }
        if (rows.length < PAGE_ROWS) return;
      }
    },
    readFile(digest) {
      const name = toHex(digest);
      try {
        const bytes = readFileSync(join(contentDirectory, name.slice(0, 2), name));
        return equalBytes(blake3(bytes), digest) ? bytes : undefined;
      } catch {
        // Erased or missing for another reason: the caller reports that it could not be read.
        return undefined;
      }
    },
    close: () => database.close(),
  };
}

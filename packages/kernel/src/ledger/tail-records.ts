import type { TailOptions } from "../kernel.ts";
import type { Store, StoredRecord } from "../ports.ts";
import type { Ledger } from "./ledger.ts";

const PAGE = 256;

/**
 * Yields records as they become durable, read from the store in pages: a slow reader delays no writer and uses little
 * memory. Ends when the signal aborts, or when the ledger accepts no more records.
 */
export async function* tailRecords(options: TailOptions, ledger: Ledger, store: Store): AsyncGenerator<StoredRecord> {
  const { signal, chain } = options;
  let next = options.fromIndex ?? ledger.durableCount();
  while (!signal.aborted && ledger.failure === undefined) {
    if (ledger.durableCount() <= next) {
      await ledger.waitForMore(next, signal);
      continue;
    }
    const until = ledger.durableCount();
    // Records of other chains are skipped without reading the store.
    if (chain !== undefined && (ledger.lastIndexOf(chain) ?? until) < next) {
      next = until;
      continue;
    }
    const page = await store.readRecords({ from: next, limit: PAGE, ...(chain !== undefined && { chain }) });
    for (const stored of page) {
      if (signal.aborted) return;
      yield stored;
    }
    const afterPage = (page.at(-1)?.index ?? -1) + 1;
    // The page may already contain records that became durable while it was read.
    next = page.length === PAGE ? afterPage : Math.max(until, afterPage);
  }
}

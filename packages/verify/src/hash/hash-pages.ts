import type { HashedPage, LedgerRow } from "../ledger-source.ts";
import { BatchHasher } from "./batch-hasher.ts";

/** Hashes rows as they arrive. A page's hashes are valid until the next page is requested. */
export async function* hashPages(
  pages: AsyncIterable<readonly LedgerRow[]>,
  hasher = new BatchHasher(),
): AsyncGenerator<HashedPage> {
  for await (const page of pages) yield* hashRows(page, hasher);
}

/** A page may exceed what is hashed at once, and may contain invalid rows. */
export function* hashRows(page: readonly LedgerRow[], hasher: BatchHasher): Generator<HashedPage> {
  for (let from = 0; from < page.length; ) {
    const count = hasher.hash(page, from);
    const rows = page.slice(from, from + Math.max(count, 1));
    yield { rows, hashesOf: (n) => (count === 0 ? undefined : hasher.of(n)) };
    from += rows.length;
  }
}

import type { LedgerRow, LedgerSource, SkippedParts } from "./ledger-source.ts";

/** Rows of a source that provides them one by one are grouped, because batch processing costs less per row. */
const GATHERED_ROWS = 64;

/** The rows of a source, in pages. */
export function readPages(
  source: LedgerSource,
  from?: number,
  leave?: SkippedParts,
): AsyncIterable<readonly LedgerRow[]> {
  return source.pages?.(from, leave) ?? gather(source.records(from));
}

async function* gather(rows: AsyncIterable<LedgerRow>): AsyncGenerator<readonly LedgerRow[]> {
  let page: LedgerRow[] = [];
  let failure: { readonly reason: unknown } | undefined;
  try {
    for await (const row of rows) {
      page.push(row);
      if (page.length < GATHERED_ROWS) continue;
      yield page;
      page = [];
    }
  } catch (reason) {
    failure = { reason };
  }
  // Rows before a failure count.
  if (page.length > 0) yield page;
  if (failure !== undefined) throw failure.reason;
}

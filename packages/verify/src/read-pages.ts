import type { LedgerRow, LedgerSource, SkippedParts } from "./ledger-source.ts";

/** Rows of a source that gives them one by one are gathered: what is done for many at once costs each of them less. */
const GATHERED_ROWS = 64;

/** The rows of a source, many at a time. */
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
  // What came before a failure counts.
  if (page.length > 0) yield page;
  if (failure !== undefined) throw failure.reason;
}

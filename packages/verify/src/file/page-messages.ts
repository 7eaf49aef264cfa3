import type { LedgerRow } from "../ledger-source.ts";
import type { PackedPage } from "./packed-page.ts";

/** Start parameters of the thread that reads and hashes. */
export interface PagesThreadData {
  readonly path: string;
  /** The first record to read; undefined for all records. */
  readonly from: number | undefined;
}

/** The thread's response to each message: the next page, an invalid row, the end, or why reading failed. */
export type PageResponse =
  | { readonly page: PackedPage }
  | { readonly odd: LedgerRow }
  | { readonly end: true }
  | { readonly failure: string };

import type { LedgerRow } from "../ledger-source.ts";
import type { PackedPage } from "./packed-page.ts";

/** What the thread that reads and hashes is started with. */
export interface PagesThreadData {
  readonly path: string;
  /** The first record; all of them if it is undefined. */
  readonly from: number | undefined;
}

/** Its answer to each word it is sent: the next page, a row that is none, the end, or why there is nothing more. */
export type PageResponse =
  | { readonly page: PackedPage }
  | { readonly odd: LedgerRow }
  | { readonly end: true }
  | { readonly failure: string };

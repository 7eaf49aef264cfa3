import type { ContentPlace } from "@narthex/contracts";

/** Content that has its place: in the record's own row, or in a file of the content store. */
export interface CollectedContent {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly place: ContentPlace;
  /** All of it, if it is at most 1 MB; else its beginning, enough for any view. */
  readonly head: Uint8Array;
}

/** Takes content in pieces, in flat memory. */
export interface ContentCollector {
  /** Copies nothing it does not keep; the chunk may be reused once this resolves. */
  write(chunk: Uint8Array): Promise<void>;
  /** Durable when it resolves, unless its place is the row of a record still to be written. */
  finish(): Promise<CollectedContent>;
  /** Leaves nothing behind. */
  abort(): Promise<void>;
}

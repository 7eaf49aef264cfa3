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
  /** How much has come so far. */
  readonly size: number;
  /** Keeps nothing of the chunk but a copy: it may be reused at once. */
  write(chunk: Uint8Array): Promise<void>;
  /** All of it so far, if it is at most 1 MB; else its beginning. */
  head(): Uint8Array;
  /** Durable when it resolves, unless its place is the row of a record still to be written. */
  finish(): Promise<CollectedContent>;
  /** Leaves nothing behind. Harmless after `finish`. */
  abort(): Promise<void>;
}

/** One record of a session's chain, with the content of its commitments. */
export interface ReplayRow {
  readonly index: number;
  /** An encoded `Record`. */
  readonly record: Uint8Array;
  /** An encoded `RecordContent`. */
  readonly content: Uint8Array;
}

/** Content that can be read in parts. */
export interface ReplayContent {
  readonly size: number;
  /** A limit of 0 reads to the end. Throws if the bytes do not match the digest. */
  stream(offset: number, limit: number): AsyncIterable<Uint8Array>;
}

/** Where recorded sessions are read from: a store or a bundle. */
export interface ReplaySource {
  /** The records of one chain, ascending. */
  records(chain: string): AsyncIterable<ReplayRow>;
  /** Finds content, whichever session holds it; undefined if it is missing. */
  findContent(digest: Uint8Array): Promise<ReplayContent | undefined>;
  /** Whether missing content was left out of a bundle. */
  readonly omitsContent: boolean;
}

import type { RowHashes } from "./hash/batch-hasher.ts";

/** One stored record: the columns of its row, its bytes, and the content its commitments point at. */
export interface LedgerRow {
  readonly index: number;
  readonly chain: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
  /** An encoded `Record`. */
  readonly record: Uint8Array;
  /** An encoded `RecordContent`. */
  readonly content: Uint8Array;
}

/**
 * Where a ledger is read from. Nothing it gives is trusted, but it has to stand still: rows are those of one moment, or
 * an erasure that happens meanwhile looks like a contradiction.
 */
export interface LedgerSource {
  /** Records of other chains were left out, and no index follows on the one before. */
  readonly isPartial?: boolean;
  /** Content was left out, by its digest: its place is NONE. */
  readonly leavesOut?: boolean;
  /** Only for progress. */
  recordCount?(): Promise<number>;
  /** Every row, or those from an index on, ascending by index. May be asked for more than once; each time it starts anew. */
  records(from?: number): AsyncIterable<LedgerRow>;
  /** The same rows, many at a time, where that is quicker. A page is looked at before the next one is asked for. */
  pages?(from?: number, skip?: SkippedParts): AsyncIterable<readonly LedgerRow[]>;
  /** The same pages with all that their rows hash to, where something else computes that meanwhile. */
  hashedPages?(from?: number): AsyncIterable<HashedPage>;
  /** The bytes of a content file as they are on the disk; undefined if there is none. */
  readFile(digest: Uint8Array): FileBytes | undefined | Promise<FileBytes | undefined>;
  /** The files of the Merkle log, where there are any. */
  readonly log?: TreeFiles;
}

/** What a reader does not look at, and a source need not read: content may then be empty. */
export interface SkippedParts {
  readonly content: boolean;
}

/** SPEC: docs/formats/log.md, "Files". */
export interface TreeFiles {
  /** `log/checkpoint`; undefined if there is none. */
  readCheckpoint(): Promise<string | undefined>;
  /** The tile of so many hashes; undefined if there is none. */
  readTile(level: number, number: number, hashes: number): Promise<Uint8Array | undefined>;
}

/** SECURITY: hashes are believed, so nothing but this package may have computed them. */
export interface HashedPage {
  readonly rows: readonly LedgerRow[];
  /** Of the n-th row; undefined if that is no row at all. */
  hashesOf(n: number): RowHashes | undefined;
}

export type FileBytes = AsyncIterable<Uint8Array>;

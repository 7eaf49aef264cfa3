import type { RowHashes } from "./hash/batch-hasher.ts";

/** One stored record: the columns of its row, its bytes, and the content that its commitments refer to. */
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
 * The source of a ledger. Its data is untrusted, but all rows must be from one snapshot; otherwise a concurrent erasure
 * looks like a contradiction.
 */
export interface LedgerSource {
  /** Records of other chains were left out, so indexes are not consecutive. */
  readonly isPartial?: boolean;
  /** Content was replaced by its digest: its place is NONE. */
  readonly leavesOut?: boolean;
  /** Used only for progress. */
  recordCount?(): Promise<number>;
  /**
   * All rows, or those from an index on, in ascending order of the index. May be called several times; each call starts
   * again.
   */
  records(from?: number): AsyncIterable<LedgerRow>;
  /** The same rows in pages, if that is faster. A page is processed before the next one is requested. */
  pages?(from?: number, skip?: SkippedParts): AsyncIterable<readonly LedgerRow[]>;
  /** The same pages with all hashes of their rows, if another thread computes those meanwhile. */
  hashedPages?(from?: number): AsyncIterable<HashedPage>;
  /** The bytes of a content file as stored on the disk; undefined if it does not exist. */
  readFile(digest: Uint8Array): FileBytes | undefined | Promise<FileBytes | undefined>;
  /** The files of the Merkle tree, if there are any. */
  readonly log?: TreeFiles;
}

/** Parts that the reader does not need and a source need not read: content may then be empty. */
export interface SkippedParts {
  readonly content: boolean;
}

/** SPEC: docs/formats/log.md, "Files". */
export interface TreeFiles {
  /** `log/checkpoint`; undefined if it does not exist. */
  readCheckpoint(): Promise<string | undefined>;
  /** The tile with this many hashes; undefined if it does not exist. */
  readTile(level: number, number: number, hashes: number): Promise<Uint8Array | undefined>;
}

/** SECURITY: these hashes are trusted, so only this package may compute them. */
export interface HashedPage {
  readonly rows: readonly LedgerRow[];
  /** The hashes of the n-th row; undefined for an invalid row. */
  hashesOf(n: number): RowHashes | undefined;
}

export type FileBytes = AsyncIterable<Uint8Array>;

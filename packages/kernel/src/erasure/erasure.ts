/** What a person wants gone for good. */
export interface Erasure {
  /** Content that is erased wherever it is named. */
  readonly hashes: readonly Uint8Array[];
  /** Sessions that have ended, all of whose content is erased. */
  readonly sessionIds: readonly string[];
  readonly reason: string;
  readonly by: string;
  /** Only says what would be done. */
  readonly dryRun: boolean;
}

export interface ErasureReport {
  /** Content items that became tombstones. */
  readonly items: number;
  readonly records: number;
  /** Of the bytes that lay in rows, and of the files. */
  readonly bytes: number;
  readonly files: number;
  /** The records that say so. */
  readonly recordIndexes: readonly number[];
  /** Content of the named sessions that others put or received as well; it stays with them. */
  readonly heldByOthers: number;
}

export interface Retention {
  /** Content goes so long after its session has ended. */
  readonly maxAgeMs: number;
  /** What sessions that have ended may keep in all; beyond it, the oldest goes first. */
  readonly maxBytes: number;
}

export interface CollectionReport {
  /** Sessions whose content went, wholly or in part. */
  readonly sessions: number;
  readonly items: number;
  readonly bytes: number;
  readonly files: number;
  /** Bytes that sessions which have ended still keep. */
  readonly keptBytes: number;
  /** There was more to do than one round does. */
  readonly more: boolean;
}

/** One item to be erased. */
export interface ErasureTarget {
  readonly chain: string;
  readonly recordIndex: number;
  readonly item: number;
  /** Hex. */
  readonly digest: string;
  readonly role: number;
  readonly place: number;
  readonly size: number;
  readonly nonce: Uint8Array;
}

/** A request to erase content permanently. */
export interface Erasure {
  /** Content to erase everywhere it is referenced. */
  readonly hashes: readonly Uint8Array[];
  /** Ended sessions whose content is erased completely. */
  readonly sessionIds: readonly string[];
  readonly reason: string;
  readonly by: string;
  /** Only report what would be erased. */
  readonly dryRun: boolean;
}

export interface ErasureReport {
  /** Content items that became tombstones. */
  readonly items: number;
  readonly records: number;
  /** Bytes stored in rows and in files. */
  readonly bytes: number;
  readonly files: number;
  /** Indexes of the records that record the erasure. */
  readonly recordIndexes: readonly number[];
  /** Number of contents of the named sessions that other sessions also put or received; those stay with them. */
  readonly heldByOthers: number;
}

export interface Retention {
  /** Maximum time that content is kept after its session has ended. */
  readonly maxAgeMs: number;
  /** Maximum number of bytes that ended sessions keep in total; beyond it, the oldest session is erased first. */
  readonly maxBytes: number;
}

export interface CollectionReport {
  /** Sessions whose content was erased, at least in part. */
  readonly sessions: number;
  readonly items: number;
  readonly bytes: number;
  readonly files: number;
  /** Bytes that ended sessions still keep. */
  readonly keptBytes: number;
  /** The round ended before everything due was erased. */
  readonly more: boolean;
}

/** An item to erase. */
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

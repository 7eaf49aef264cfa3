/** Where to copy a home to. */
export interface HomeCopyOptions {
  /** Absolute path that does not exist yet. */
  readonly directory: string;
  /** Also copy the private keys: only if the copy replaces this home and never runs beside it. */
  readonly withKeys: boolean;
}

export interface HomeCopy {
  readonly directory: string;
  readonly records: number;
  /** Hash of the last record, in hex; empty if none exists. */
  readonly headHash: string;
  /** Number of content files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
}

/** Where a home is to be copied to. */
export interface HomeCopyOptions {
  /** Absolute, and not there yet. */
  readonly directory: string;
  /** Also the private keys: only where the copy replaces this home, and never runs beside it. */
  readonly withKeys: boolean;
}

export interface HomeCopy {
  readonly directory: string;
  readonly records: number;
  /** Of the last record, in hex; empty if there is none. */
  readonly headHash: string;
  /** Content files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
}

/** What is proven of a ledger beyond its own chains. */
export interface TreeReport {
  /** Empty if no key was announced. */
  readonly origin: string;
  /** Of the key in use at the end; empty if there is none. */
  readonly verifierKey: string;
  /** Whether that key is the trusted one or was handed over to from it; false if none was given. */
  readonly keyTrusted: boolean;
  /** Keys that the ledger announces. */
  readonly keys: number;
  /** Whose signature and root are right. */
  readonly checkpoints: number;
  /** Of the last of them; 0 if there is none. */
  readonly provenSize: number;
  readonly provenRoot: Uint8Array;
  /** Checkpoints from elsewhere that the ledger is an extension of. */
  readonly keptCheckpoints: number;
  /** Records that announced a key which no key before it handed over to, where there are any. */
  readonly keyLosses?: readonly number[];
  /** Tiles that say what the records say, of those that were looked at. */
  readonly tiles: number;
  readonly tilesMissing: number;
}

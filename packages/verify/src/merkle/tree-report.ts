/** What the Merkle tree proves about a ledger, beyond its chains. */
export interface TreeReport {
  /** Empty if no key was announced. */
  readonly origin: string;
  /** The last key in use; empty without a key. */
  readonly verifierKey: string;
  /** Whether that key is the trusted one or one of its successors; false if no trusted key was given. */
  readonly keyTrusted: boolean;
  /** Number of keys that the ledger announces. */
  readonly keys: number;
  /** Number of checkpoints whose signature and root are correct. */
  readonly checkpoints: number;
  /** Size of the last of them; 0 without a checkpoint. */
  readonly provenSize: number;
  readonly provenRoot: Uint8Array;
  /** Number of kept checkpoints that the ledger extends. */
  readonly keptCheckpoints: number;
  /** Records that announced a key to which no earlier key handed over; absent if no record did. */
  readonly keyLosses?: readonly number[];
  /** Number of checked tiles that match the records. */
  readonly tiles: number;
  readonly tilesMissing: number;
}

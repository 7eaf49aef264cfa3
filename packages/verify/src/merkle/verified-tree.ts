import type { AnnouncedKey } from "./key-history.ts";
import type { UnfinishedTile } from "./tree-edge.ts";

/** The state of the Merkle tree after a run had read all records. */
export interface VerifiedTree {
  readonly keys: readonly AnnouncedKey[];
  readonly firstKeyIndex: number;
  /** The newest proven checkpoint, a signed note. */
  readonly note: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Number of proven checkpoints. */
  readonly checkpoints: number;
  /** The edge of the tree that it covers. */
  readonly edge: readonly UnfinishedTile[];
  /** Hashes of the records that it does not cover. */
  readonly tail: Uint8Array<ArrayBuffer>;
  /** External checkpoints that matched. */
  readonly kept: readonly { readonly size: number; readonly root: Uint8Array }[];
}

import type { AnnouncedKey } from "./key-history.ts";
import type { UnfinishedTile } from "./tree-edge.ts";

/** What a run knew of the log when it had read all records. */
export interface VerifiedTree {
  readonly keys: readonly AnnouncedKey[];
  readonly firstKeyIndex: number;
  /** The newest checkpoint that was proven, a signed note. */
  readonly note: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** How many were proven. */
  readonly checkpoints: number;
  /** Of the tree that it covers. */
  readonly edge: readonly UnfinishedTile[];
  /** Hashes of the records that it does not cover. */
  readonly tail: Uint8Array<ArrayBuffer>;
  /** Checkpoints from elsewhere that agreed. */
  readonly kept: readonly { readonly size: number; readonly root: Uint8Array }[];
}

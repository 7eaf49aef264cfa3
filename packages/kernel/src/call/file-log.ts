import { canonicalJsonBytes, type JsonObject } from "@narthex/contracts";
import type { Committed } from "../ledger/commitment.ts";
import type { FileChange, FileState } from "../workspace-files.ts";

/** Which part of which file a call has read. */
export interface FileReading {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  /** Of what was read: lower-case hex. */
  readonly hash: string;
}

/** What a call read and changed, in the order in which it did. */
export class FileLog {
  readonly readings: FileReading[] = [];
  readonly changes: FileChange[] = [];
  /** What was there before, one for each file that was replaced or taken away. */
  readonly preimages: Committed[] = [];
  /** What came out of the vault. */
  readonly staged: Committed[] = [];

  get isEmpty(): boolean {
    return this.readings.length === 0 && this.changes.length === 0 && this.preimages.length === 0;
  }

  /** Canonical JSON. SPEC: docs/formats/ledger.md, "Files of a call". */
  encode(): Uint8Array {
    return canonicalJsonBytes({
      changed: this.changes.map(({ path, before, after }) => ({
        after: stateToJson(after),
        before: stateToJson(before),
        path,
      })),
      read: this.readings.map(({ path, offset, size, hash }) => ({ hash, offset, path, size })),
    });
  }
}

function stateToJson(state: FileState): JsonObject {
  return { ...state };
}

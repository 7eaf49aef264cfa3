import { canonicalJsonBytes, type JsonObject } from "@narthex/contracts";
import type { Committed } from "../ledger/commitment.ts";
import { redactJson } from "../result/redact.ts";
import { holdsSecret } from "../secret/secret-search.ts";
import type { Redactor } from "../tool/tool.ts";
import type { FileChange, FileReading, FileState } from "../workspace-files.ts";

/**
 * Maximum number of bytes read by one call that are held until it is known whether its result contains them as well.
 */
const MAX_HELD_BYTES = 1024 * 1024;

export interface TracedReading extends FileReading {
  /** The bytes read; undefined if they were too many to hold. */
  readonly bytes?: Uint8Array | undefined;
}

/** Files that a call read and changed, in order. */
export class FileTrace {
  readonly readings: TracedReading[] = [];
  /** Paths that led elsewhere, through links. */
  readonly resolvedLinks = new Map<string, string>();
  readonly changes: FileChange[] = [];
  /** Previous contents, one for each file that was replaced or removed. */
  readonly preimages: Committed[] = [];
  /** Content from the vault. */
  readonly staged: Committed[] = [];

  #heldBytes = 0;

  /** Sets room aside to hold bytes that were read; returns whether there is enough. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) return false;
    this.#heldBytes += bytes;
    return true;
  }

  get isEmpty(): boolean {
    return this.readings.length === 0 && this.changes.length === 0 && this.preimages.length === 0;
  }

  /** Encodes the trace as canonical JSON. SPEC: docs/formats/ledger.md, "Files of a call". */
  encode(redactors: readonly Redactor[]): Uint8Array {
    const list: JsonObject = {
      changed: this.changes.map(({ path, before, after }) => ({
        after: stateToJson(after),
        before: stateToJson(before),
        path,
      })),
      read: this.readings.map(({ path, offset, size, hash, of }) => ({
        hash,
        offset,
        path,
        size,
        ...(of !== undefined && { of }),
      })),
      ...(this.resolvedLinks.size > 0 && {
        through: [...this.resolvedLinks].map(([named, opened]) => ({ named, opened })),
      }),
    };
    const bytes = canonicalJsonBytes(list);
    return holdsSecret(bytes, redactors) ? canonicalJsonBytes(redactJson(list, redactors)) : bytes;
  }
}

function stateToJson(state: FileState): JsonObject {
  return { ...state };
}

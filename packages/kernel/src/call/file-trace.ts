import { canonicalJsonBytes, type JsonObject } from "@narthex/contracts";
import type { Committed } from "../ledger/commitment.ts";
import { redactJson } from "../result/redact.ts";
import { holdsSecret } from "../secret/secret-search.ts";
import type { Redactor } from "../tool/tool.ts";
import type { FileChange, FileReading, FileState } from "../workspace-files.ts";

/** Of all that one call reads, so much is held until it is known whether its result holds it too. */
const MAX_HELD_BYTES = 1024 * 1024;

export interface TracedReading extends FileReading {
  /** What was read; undefined if it was too much to be held. */
  readonly bytes?: Uint8Array | undefined;
}

/** What a call read and changed, in the order in which it did. */
export class FileTrace {
  readonly readings: TracedReading[] = [];
  /** Names that led elsewhere, through links. */
  readonly resolvedLinks = new Map<string, string>();
  readonly changes: FileChange[] = [];
  /** What was there before, one for each file that was replaced or taken away. */
  readonly preimages: Committed[] = [];
  /** What came out of the vault. */
  readonly staged: Committed[] = [];

  #heldBytes = 0;

  /** Holds on to what is read, unless it is too much: answers whether there is room. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) return false;
    this.#heldBytes += bytes;
    return true;
  }

  get isEmpty(): boolean {
    return this.readings.length === 0 && this.changes.length === 0 && this.preimages.length === 0;
  }

  /** Canonical JSON. SPEC: docs/formats/ledger.md, "Files of a call". */
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

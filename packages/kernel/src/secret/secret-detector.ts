import type { Redactor } from "../tool/tool.ts";
import { searchFor } from "./secret-search.ts";

/** Looks for secrets in bytes that come in pieces cut anywhere. */
export interface SecretDetector {
  /** Whether a secret ends in this piece, or ended in one before it. */
  detects(chunk: Uint8Array): boolean;
}

/** Undefined if there is nothing to look for. */
export function createSecretDetector(redactors: readonly Redactor[]): SecretDetector | undefined {
  const search = searchFor(redactors);
  if (search.longest === 0) return undefined;
  let tail: Uint8Array = new Uint8Array(0);
  let isSeen = false;
  return {
    detects(chunk) {
      if (isSeen) return true;
      const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
      isSeen = search.next(bytes, 0) !== undefined;
      // A copy: the chunk may be written over.
      tail = Uint8Array.from(bytes.subarray(Math.max(0, bytes.length - search.longest + 1)));
      return isSeen;
    },
  };
}

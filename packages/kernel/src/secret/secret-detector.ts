import type { Redactor } from "../tool/tool.ts";
import { searchFor } from "./secret-search.ts";

/** Detects secrets in a stream of bytes, also across chunk boundaries. */
export interface SecretDetector {
  /** Whether a secret ends in this chunk, or ended in an earlier one. */
  detects(chunk: Uint8Array): boolean;
}

/** Undefined if there is nothing to search for. */
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
      // A copy, because the caller may reuse the chunk's buffer.
      tail = Uint8Array.from(bytes.subarray(Math.max(0, bytes.length - search.longest + 1)));
      return isSeen;
    },
  };
}

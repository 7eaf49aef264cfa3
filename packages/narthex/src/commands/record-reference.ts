import type { RecordReference } from "../connection/kernel-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { parseCount } from "../terminal/units.ts";

/** Parses a record's index, or SESSION/REQUEST for the outcome of a call. */
export function parseRecordReference(text: string): RecordReference {
  const index = parseCount(text);
  if (index !== undefined) return { index };
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) {
    throw usageError(`\`${text.slice(0, 60)}\` names no record; write an index or SESSION/REQUEST`);
  }
  return { sessionId: text.slice(0, slash), requestId: text.slice(slash + 1) };
}

import { canonicalJsonBytes, isJsonObject, KernelError, parseJson } from "@narthex/contracts";
import type { StateChange, StateRow } from "../ports.ts";

/** A finished call whose response is returned for calls with the same dedupe key. */
export interface DedupeEntry {
  readonly requestId: string;
  /** Hex. */
  readonly requestDigest: string;
}

/** Maximum number of keys per session; the oldest key is forgotten first. */
export const MAX_DEDUPE_KEYS = 10_000;

/** Session ids contain no slash and have one length, so no id is a prefix of another. */
export function dedupeRowPrefix(sessionId: string): string {
  return `${sessionId}/`;
}

export function dedupeRow(sessionId: string, dedupeKey: string, kept: DedupeEntry | undefined): StateChange {
  const value = kept && canonicalJsonBytes({ request_digest: kept.requestDigest, request_id: kept.requestId });
  return { table: "dedupe", key: dedupeRowPrefix(sessionId) + dedupeKey, value };
}

export function dedupeEntryFromRow(row: StateRow): DedupeEntry {
  const value = parseJson(row.value);
  const { request_id: requestId, request_digest: requestDigest } = isJsonObject(value) ? value : {};
  if (typeof requestId !== "string" || typeof requestDigest !== "string") {
    throw new KernelError("INTERNAL", "a dedupe key's row is damaged");
  }
  return { requestId, requestDigest };
}

import { toHex } from "@narthex/contracts";
import type { CallResponse } from "../../journal/call-response.ts";
import { dedupeRow, MAX_DEDUPE_KEYS } from "../../journal/dedupe-row.ts";
import type { StateChange } from "../../ports.ts";
import type { IncomingCall } from "../call.ts";

/**
 * Creates the rows that keep a final outcome under its dedupe key, until the session ends or newer keys displace it.
 */
export function createDedupeEntryRows(incoming: IncomingCall, answer: CallResponse): readonly StateChange[] {
  const { trail } = incoming;
  const { live, dedupeKey } = trail;
  if (live === undefined || dedupeKey === "" || !answer.isFinal || trail.request === undefined) return [];
  if (trail.callNumber === 0) return [];
  const kept = { requestId: trail.requestId, requestDigest: toHex(trail.request.digest) };
  live.dedupeEntries.set(dedupeKey, kept);
  const changes = [dedupeRow(live.id, dedupeKey, kept)];
  if (live.dedupeEntries.size > MAX_DEDUPE_KEYS) {
    const oldest = live.dedupeEntries.firstKey;
    if (oldest !== undefined) {
      live.dedupeEntries.delete(oldest);
      changes.push(dedupeRow(live.id, oldest, undefined));
    }
  }
  return changes;
}

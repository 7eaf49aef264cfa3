import { canonicalJsonBytes, toHex } from "@narthex/contracts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import type { StateChange } from "../../ports.ts";
import type { CallFrame } from "../call.ts";

/** Per session; the oldest key is forgotten first. */
const MAX_KEYS = 10_000;

/** A final outcome is kept under its dedupe key until the session ends. */
export function keepDedupeAnswer(frame: CallFrame, answer: CallAnswer): StateChange[] {
  const { trail } = frame;
  const { live, dedupeKey } = trail;
  if (live === undefined || dedupeKey === "" || !answer.final || trail.request === undefined) return [];
  if (trail.callNumber === 0) return [];
  const kept = { requestId: trail.requestId, requestDigest: toHex(trail.request.digest) };
  live.answersByKey.set(dedupeKey, kept);
  const row = { request_digest: kept.requestDigest, request_id: kept.requestId };
  const changes: StateChange[] = [{ table: "dedupe", key: dedupeRowKey(live.id, dedupeKey), value: canonicalJsonBytes(row) }];
  if (live.answersByKey.size > MAX_KEYS) {
    const oldest = live.answersByKey.keys().next().value;
    if (oldest !== undefined) {
      live.answersByKey.delete(oldest);
      changes.push({ table: "dedupe", key: dedupeRowKey(live.id, oldest), value: undefined });
    }
  }
  return changes;
}

function dedupeRowKey(sessionId: string, dedupeKey: string): string {
  return `${sessionId}/${dedupeKey}`;
}

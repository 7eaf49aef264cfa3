import { toHex } from "@narthex/contracts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import { dedupeRow, MAX_DEDUPE_KEYS } from "../../journal/dedupe-row.ts";
import type { StateChange } from "../../ports.ts";
import type { CallFrame } from "../call.ts";

/** A final outcome is kept under its dedupe key until the session ends. */
export function keepDedupeAnswer(frame: CallFrame, answer: CallAnswer): readonly StateChange[] {
  const { trail } = frame;
  const { live, dedupeKey } = trail;
  if (live === undefined || dedupeKey === "" || !answer.final || trail.request === undefined) return [];
  if (trail.callNumber === 0) return [];
  const kept = { requestId: trail.requestId, requestDigest: toHex(trail.request.digest) };
  live.answersByKey.set(dedupeKey, kept);
  const changes = [dedupeRow(live.id, dedupeKey, kept)];
  if (live.answersByKey.size > MAX_DEDUPE_KEYS) {
    const oldest = live.answersByKey.firstKey;
    if (oldest !== undefined) {
      live.answersByKey.delete(oldest);
      changes.push(dedupeRow(live.id, oldest, undefined));
    }
  }
  return changes;
}

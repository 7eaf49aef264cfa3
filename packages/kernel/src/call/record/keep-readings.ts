import { ContentRole, fromHex, isJsonObject, toHex } from "@narthex/contracts";
import { ReservedBytes } from "../../budget/reserved-bytes.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import { placeBytes } from "../../result/place-bytes.ts";
import { holdsSecret } from "../../secret/secret-search.ts";
import type { LiveSession } from "../../session/live-session.ts";
import type { ToolOutput } from "../../tool/tool.ts";
import type { KeptCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { redactorsForRecord } from "../call-redactors.ts";
import { SECRET } from "../../label/secret-label.ts";

/**
 * Keeps content that a call read, so that the call can be run again: only for deterministic calls, and only if the
 * result does not contain it anyway.
 *
 * SECURITY: this stores content in one more place, so secret content is not kept. Neither is content for which the
 * budget has no room.
 */
export async function keepReadings(
  trail: CallTrail,
  live: LiveSession,
  kept: KeptCall,
  kernel: KernelParts,
): Promise<void> {
  const { fileTrace } = trail;
  if (fileTrace === undefined || fileTrace.readings.length === 0 || trail.labels.includes(SECRET)) return;
  if (kept.determinism !== "deterministic") return;
  const hidden = redactorsForRecord(kept, kernel);
  const known = new Set([toHex(kept.result.digest), ...fileTrace.preimages.map(({ digest }) => toHex(digest))]);
  for (const { hash, bytes } of fileTrace.readings) {
    const digest = fromHex(hash);
    if (bytes === undefined || digest === undefined || bytes.length === 0 || known.has(hash)) continue;
    known.add(hash);
    if (trail.isWithheld || holdsSecret(bytes, hidden)) {
      trail.isRedacted = true;
      continue;
    }
    if (isIn(kept.raw, bytes) || !hasRoom(trail, live, bytes.length)) continue;
    const placed = await placeBytes(bytes, digest, kernel.contentStore);
    const committed = commitContent({ role: ContentRole.PREIMAGE, ...placed }, kernel.random);
    trail.attach(committed.item);
    fileTrace.preimages.push(committed);
    trail.storedInputBytes += placed.size;
  }
}

/** Whether a result holds these bytes as one of its texts. */
function isIn(raw: ToolOutput, bytes: Uint8Array): boolean {
  if (typeof raw !== "object" || raw === null || raw instanceof Uint8Array || Symbol.asyncIterator in raw) return false;
  if (!isJsonObject(raw)) return false;
  return Object.values(raw).some((value) => typeof value === "string" && Buffer.from(value).equals(bytes));
}

function hasRoom(trail: CallTrail, live: LiveSession, bytes: number): boolean {
  if (live.lease.budgets.stored_bytes === undefined) return true;
  trail.storedBytes ??= new ReservedBytes(live.account, "stored_bytes");
  return trail.storedBytes.add(bytes) === undefined;
}

import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { collectSession } from "./collect-session.ts";
import { collectSystem } from "./collect-system.ts";
import { type EndedSession, listEndedSessions } from "./ended-sessions.ts";
import { countBytes } from "./erase-content.ts";
import type { CollectionReport, Retention } from "./erasure.ts";
import { finishErasing } from "./finish-erasing.ts";

export interface CollectionOptions extends Retention {
  /** Only report what would be erased. */
  readonly dryRun: boolean;
  /** Stop after this many items; the rest is left for the next round. */
  readonly maxItems: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Erases content that no artifact and no open session needs, once it exceeds the maximum age or the total exceeds the
 * maximum size.
 */
export async function collectGarbage(collecting: CollectionOptions, kernel: KernelParts): Promise<CollectionReport> {
  const { dryRun, maxItems, signal } = collecting;
  if (kernel.closing()) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
  const { ended, bytes: allBytes } = await listEndedSessions(kernel);
  const endedBeforeMs = kernel.ledger.nowMs() - collecting.maxAgeMs;
  const ownerless = await collectSystem({ endedBeforeMs, dryRun }, kernel);
  let sessions = 0;
  let items = ownerless.length;
  let bytes = countBytes(ownerless);
  let more = false;
  let left = allBytes;
  for (const session of ended) {
    if (!isDue(session, left, collecting, kernel)) break;
    if (items >= maxItems || signal?.aborted === true || kernel.closing()) {
      more = true;
      break;
    }
    const collected = await collectSession(session, { dryRun }, kernel);
    if (collected.items > 0) sessions++;
    items += collected.items;
    bytes += collected.bytes;
    if (!collected.isWaiting) left -= session.bytes;
  }
  const files = dryRun ? 0 : await kernel.erasureLock.withExclusive(() => finishErasing(kernel, undefined));
  if (items > 0 && !dryRun) {
    kernel.responses.clear();
    kernel.heldContent.clear();
  }
  return { sessions, items, bytes, files, keptBytes: left, more };
}

function isDue(
  { endedAtMs }: EndedSession,
  keptBytes: number,
  { maxAgeMs, maxBytes }: Retention,
  { ledger }: KernelParts,
): boolean {
  return endedAtMs + maxAgeMs <= ledger.nowMs() || keptBytes > maxBytes;
}

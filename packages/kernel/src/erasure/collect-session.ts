import { canonicalJsonBytes, ContentRole, fromHex } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import { usageKey } from "../session/live-session.ts";
import { appendErasures, MAX_ERASED_PER_RECORD, inErasingOrder, RETENTION } from "./append-erasures.ts";
import type { EndedSession } from "./ended-sessions.ts";
import { countBytes } from "./erase-content.ts";
import type { ErasureTarget } from "./erasure.ts";
import { readChain, toErasureTarget } from "./read-targets.ts";

export interface CollectedSession {
  readonly items: number;
  readonly bytes: number;
  /**
   * Some content is still referenced by another session or in use by a running call; a later round has more to collect.
   */
  readonly isWaiting: boolean;
}

/** Roles of content that another record may reference without holding its bytes. */
const NAMEABLE: ReadonlySet<number> = new Set([
  ContentRole.INPUT,
  ContentRole.RESULT,
  ContentRole.PUT,
  ContentRole.GRANTED,
  ContentRole.ARTIFACT,
  ContentRole.OUTPUT,
]);

/** Maximum number of items of one session in one round. */
const MAX_AT_ONCE = 100_000;
const NO_NONCE = new Uint8Array(0);

/**
 * Erases the items of an ended session, except content of artifacts and content granted to another session. Content
 * that other sessions put or received on their own stays with them.
 */
export async function collectSession(
  session: EndedSession,
  { dryRun }: { readonly dryRun: boolean },
  kernel: KernelParts,
): Promise<CollectedSession> {
  // The person who settles an open intent needs to see the call's input.
  const open = await kernel.store.listState("intents", `${session.id}/`, 1);
  if (open.length > 0) return { items: 0, bytes: 0, isWaiting: true };
  const targets = inErasingOrder(await readTargets(session.id, kernel));
  let items = 0;
  let bytes = 0;
  let isWaiting = targets.length >= MAX_AT_ONCE;
  for (let from = 0; from < targets.length; from += MAX_ERASED_PER_RECORD) {
    const batch = targets.slice(from, from + MAX_ERASED_PER_RECORD);
    const isLast = from + MAX_ERASED_PER_RECORD >= targets.length;
    await kernel.erasureLock.withExclusive(async () => {
      const free = kernel.contentUses.hold(batch.map(({ digest }) => digest));
      try {
        const found = await findUnneeded(batch, session.id, kernel);
        isWaiting ||= found.isWaiting;
        items += found.unneeded.length;
        bytes += countBytes(found.unneeded);
        if (found.unneeded.length === 0 || dryRun) return;
        await appendErasures(found.unneeded, RETENTION, kernel, isLast && !isWaiting ? [collectedRow(session)] : []);
      } finally {
        free();
      }
    });
  }
  return { items, bytes, isWaiting };
}

async function readTargets(sessionId: string, { store }: KernelParts): Promise<ErasureTarget[]> {
  const targets: ErasureTarget[] = [];
  for await (const record of readChain(sessionId, store)) {
    for (const [position, item] of record.items.entries()) {
      const target = toErasureTarget(record, position, item);
      if (target !== undefined) targets.push({ ...target, nonce: NO_NONCE });
    }
    // Keep the last targets; the rest is collected in a later round.
    if (targets.length > 2 * MAX_AT_ONCE) targets.splice(0, targets.length - MAX_AT_ONCE);
  }
  return targets;
}

/** INVARIANT: the content is held, so between this check and the tombstone no call can start to need it. */
async function findUnneeded(
  batch: readonly ErasureTarget[],
  sessionId: string,
  kernel: KernelParts,
): Promise<{ readonly unneeded: readonly ErasureTarget[]; readonly isWaiting: boolean }> {
  const needs = new Map<string, Need>();
  const unneeded: ErasureTarget[] = [];
  let isWaiting = false;
  for (const target of batch) {
    const isNameable = NAMEABLE.has(target.role);
    const need = isNameable ? (needs.get(target.digest) ?? (await needFor(target.digest, sessionId, kernel))) : "none";
    if (isNameable) needs.set(target.digest, need);
    if (need === "none") unneeded.push(target);
    isWaiting ||= need === "session";
  }
  return { unneeded, isWaiting };
}

type Need = "none" | "artifact" | "session";

/**
 * Finds out whether content is still needed. Sessions that were granted content release their references when they are
 * collected themselves, before the session that granted it.
 */
async function needFor(name: string, sessionId: string, { contentUses, store }: KernelParts): Promise<Need> {
  const digest = fromHex(name);
  if (digest === undefined) return "none";
  if (contentUses.isInUse(digest)) return "session";
  const references = await store.findReferences(digest);
  if (references.some(({ role }) => role === ContentRole.ARTIFACT)) return "artifact";
  return references.some(({ chain }) => chain !== sessionId) ? "session" : "none";
}

/** Marks the session as collected, so that later rounds skip it. */
function collectedRow({ id, usage }: EndedSession): StateChange {
  return { table: "sessions", key: usageKey(id), value: canonicalJsonBytes({ ...usage, collected: true }) };
}

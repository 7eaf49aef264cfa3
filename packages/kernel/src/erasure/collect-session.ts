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
  /** Others rest on something of it, or have it in hand: there will be more to collect. */
  readonly isWaiting: boolean;
}

/** Roles that another record may rest on without bytes of its own. */
const NAMEABLE: ReadonlySet<number> = new Set([
  ContentRole.INPUT,
  ContentRole.RESULT,
  ContentRole.PUT,
  ContentRole.GRANTED,
  ContentRole.ARTIFACT,
  ContentRole.OUTPUT,
]);

/** Of one session in one round. */
const MAX_AT_ONCE = 100_000;
const NO_NONCE = new Uint8Array(0);

/**
 * Erases the items of a session that has ended, but for content of artifacts and what another session was given of it.
 * Content that others put or received by themselves stays with them.
 */
export async function collectSession(
  session: EndedSession,
  { dryRun }: { readonly dryRun: boolean },
  kernel: KernelParts,
): Promise<CollectedSession> {
  // Whoever settles a call wants to see what it asked.
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
    // The last ones first: the rest comes in another round.
    if (targets.length > 2 * MAX_AT_ONCE) targets.splice(0, targets.length - MAX_AT_ONCE);
  }
  return targets;
}

/** INVARIANT: from this look at who needs content to its tombstone, nobody can come to need it: it is held. */
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

/** Sessions that were given content and have ended let go of it themselves, before whoever gave it. */
async function needFor(name: string, sessionId: string, { contentUses, store }: KernelParts): Promise<Need> {
  const digest = fromHex(name);
  if (digest === undefined) return "none";
  if (contentUses.isInUse(digest)) return "session";
  const references = await store.findReferences(digest);
  if (references.some(({ role }) => role === ContentRole.ARTIFACT)) return "artifact";
  return references.some(({ chain }) => chain !== sessionId) ? "session" : "none";
}

/** It need not be read again. */
function collectedRow({ id, usage }: EndedSession): StateChange {
  return { table: "sessions", key: usageKey(id), value: canonicalJsonBytes({ ...usage, collected: true }) };
}

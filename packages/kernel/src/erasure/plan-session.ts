import { ContentPlace, ContentRole, fromHex, KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { Store } from "../ports.ts";
import { sessionStateAt } from "../session/session-state-at.ts";
import type { ErasureTarget } from "./erasure.ts";
import { planSince } from "./plan-hashes.ts";
import { readChain, requireRoom, toErasureTarget } from "./read-targets.ts";

export interface SessionPlan {
  readonly targets: readonly ErasureTarget[];
  readonly artifacts: readonly { readonly tenant: string; readonly artifactId: string }[];
  /** Number of digests whose bytes other sessions hold as well. */
  readonly heldByOthers: number;
}

/**
 * Finds every item of a session, and items of other sessions that reference its content without having the bytes
 * themselves.
 *
 * SECURITY: content that another session put or received on its own stays with it. Otherwise anyone who gets a session
 * erased could destroy content of others by putting the same bytes first.
 */
export async function planSession(sessionId: string, kernel: KernelParts): Promise<SessionPlan> {
  await requireEnded(sessionId, kernel);
  const { store } = kernel;
  const targets = new Map<string, ErasureTarget>();
  const artifacts: { tenant: string; artifactId: string }[] = [];
  const digests = new Set<string>();
  for await (const record of readChain(sessionId, store)) {
    for (const [position, item] of record.items.entries()) {
      const target = toErasureTarget(record, position, item);
      if (target === undefined) continue;
      targets.set(`${record.index}/${position}`, target);
      requireRoom(targets.size);
      if (item.role !== ContentRole.REQUEST) digests.add(target.digest);
      if (item.role !== ContentRole.ARTIFACT) continue;
      for (const { kind } of record.message.entries) if (kind.case === "artifactPublished") artifacts.push(kind.value);
    }
  }
  const { heldByOthers, resting } = await findOthers(sessionId, digests, store);
  for (const target of resting) targets.set(`${target.recordIndex}/${target.item}`, target);
  return { targets: [...targets.values()], artifacts, heldByOthers };
}

/**
 * For content that other sessions also reference: counts the digests whose bytes they hold, and finds the items that
 * would be left without any bytes.
 */
async function findOthers(
  sessionId: string,
  digests: ReadonlySet<string>,
  store: Store,
): Promise<{ readonly heldByOthers: number; readonly resting: readonly ErasureTarget[] }> {
  let heldByOthers = 0;
  const given = new Set<string>();
  for (const name of digests) {
    const digest = fromHex(name);
    if (digest === undefined) continue;
    if ((await store.findReferences(digest)).some(({ chain }) => chain !== sessionId)) given.add(name);
    else if ((await store.findContent(digest)).some(({ chain }) => chain !== sessionId)) heldByOthers++;
  }
  if (given.size === 0) return { heldByOthers, resting: [] };
  const elsewhere = (await planSince(given, 0, store)).filter(({ chain }) => chain !== sessionId);
  const withBytes = new Set(elsewhere.filter(hasBytes).map(({ digest }) => digest));
  const resting = elsewhere.filter(({ digest }) => !withBytes.has(digest));
  requireRoom(resting.length);
  return { heldByOthers: heldByOthers + withBytes.size, resting };
}

function hasBytes({ place }: ErasureTarget): boolean {
  return place === ContentPlace.ROW || place === ContentPlace.FILE;
}

async function requireEnded(sessionId: string, { sessions, ledger, store }: KernelParts): Promise<void> {
  const live = await sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 80)}\``);
  const state = sessionStateAt(live.session, ledger.nowMs());
  if (state === "open" || !live.isIdle) {
    throw new KernelError("CONTENT_IN_USE", `\`${sessionId}\` is open: close it first with \`narthex session close\``);
  }
  if ((await store.listState("intents", `${sessionId}/`, 1)).length > 0) {
    const message = `\`${sessionId}\` has calls whose outcome is unknown: settle them first, see \`narthex journal\``;
    throw new KernelError("CONTENT_IN_USE", message);
  }
}

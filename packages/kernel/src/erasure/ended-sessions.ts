import { fromBinary, isJsonObject, type JsonObject, parseJson, RecordSchema } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { usageKey } from "../session/live-session.ts";
import type { Session } from "../session/session.ts";
import { sessionFromJson } from "../session/session-to-json.ts";

/** A session whose content may be needed only by artifacts. */
export interface EndedSession {
  readonly id: string;
  readonly endedAtMs: number;
  /** Approximate number of bytes stored. */
  readonly bytes: number;
  readonly usage: JsonObject;
}

type Parts = Pick<KernelParts, "store" | "ledger">;

const PAGE = 256;
/** Maximum number of sessions returned per round, oldest first. */
const MAX_SESSIONS = 10_000;
const MAX_DEPTH = 16;

/**
 * Lists ended sessions whose content was not collected yet, in the order in which they ended, and the number of bytes
 * that all of them keep.
 */
export async function listEndedSessions(
  kernel: Parts,
): Promise<{ readonly ended: EndedSession[]; readonly bytes: number }> {
  const { store } = kernel;
  let ended: EndedSession[] = [];
  let bytes = 0;
  for (let after: string | undefined; ; ) {
    const rows = await store.listState("sessions", "ses_", PAGE, after);
    after = rows.at(-1)?.key;
    if (after === undefined) break;
    for (const { key, value } of rows) {
      const found = key.includes("/") ? undefined : await findEnded(sessionFromJson(parseJson(value)), kernel);
      if (found === undefined) continue;
      ended.push(found);
      bytes += found.bytes;
    }
    if (ended.length > 2 * MAX_SESSIONS) ended = oldest(ended);
  }
  return { ended: oldest(ended), bytes };
}

function oldest(ended: readonly EndedSession[]): EndedSession[] {
  return ended.toSorted((left, right) => left.endedAtMs - right.endedAtMs).slice(0, MAX_SESSIONS);
}

async function findEnded(session: Session, kernel: Parts): Promise<EndedSession | undefined> {
  if (isNeeded(session, kernel) || (await hasOpenAncestor(session, kernel))) return undefined;
  const row = await kernel.store.getState("sessions", usageKey(session.id));
  const value = row === undefined ? {} : parseJson(row);
  const usage = isJsonObject(value) ? value : {};
  if (usage["collected"] === true) return undefined;
  const spent = usage["spent"];
  const stored = isJsonObject(spent ?? null) ? (spent as JsonObject)["stored_bytes"] : 0;
  const bytes = typeof stored === "number" ? stored : 0;
  return { id: session.id, endedAtMs: await endOf(session, kernel), bytes, usage };
}

/**
 * A quarantined session takes no calls, but people review what it did: its content stays until the session would have
 * expired.
 */
function isNeeded({ state, expiresAtMs }: Session, { ledger }: Pick<KernelParts, "ledger">): boolean {
  return (state === "open" || state === "quarantined") && ledger.nowMs() < expiresAtMs;
}

/** Ancestors may reference content that a session received, so an open ancestor keeps it. */
async function hasOpenAncestor(session: Session, kernel: Parts): Promise<boolean> {
  let parentId = session.parentSessionId;
  for (let depth = 0; parentId !== undefined && depth < MAX_DEPTH; depth++) {
    const parent = await readSession(parentId, kernel.store);
    if (parent === undefined) return false;
    if (isNeeded(parent, kernel)) return true;
    parentId = parent.parentSessionId;
  }
  return false;
}

async function readSession(id: string, store: KernelParts["store"]): Promise<Session | undefined> {
  const row = await store.getState("sessions", id);
  return row === undefined ? undefined : sessionFromJson(parseJson(row));
}

/** Time at which the session ended: its last record, or its expiry if it was not closed. */
async function endOf(session: Session, { store }: Pick<KernelParts, "store">): Promise<number> {
  const [last] = await store.readRecords({ chain: session.id, limit: 1, newest: true });
  const lastMs = last === undefined ? session.openedAtMs : Number(fromBinary(RecordSchema, last.record).wallTimeMs);
  return session.state === "closed" ? lastMs : Math.max(lastMs, session.expiresAtMs);
}

import { isJsonObject, type JsonObject, parseJson, parseToken } from "@narthex/contracts";
import { createBudgetAccount } from "../budget/budget-account.ts";
import { dedupeRowPrefix, keptAnswerFromRow, MAX_DEDUPE_KEYS } from "../journal/dedupe-row.ts";
import { amountsFrom, intentFromRow, intentKey } from "../journal/intent.ts";
import type { RequestMemory } from "../journal/request-memory.ts";
import { leaseFromJson } from "../lease/lease-to-json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Store } from "../ports.ts";
import { LiveSession, usageKey } from "./live-session.ts";
import { sessionFromJson } from "./session-to-json.ts";
import { verifySessionToken } from "./verify-session-token.ts";

/** The sessions of this kernel: those that have not ended in memory from their first use on, all others in the store. */
export interface SessionTable {
  /** The session this very token belongs to, in whatever state it is. */
  authenticate(token: string): Promise<LiveSession | undefined> | LiveSession | undefined;
  find(sessionId: string): Promise<LiveSession | undefined>;
  add(live: LiveSession): void;
  forget(sessionId: string): void;
  /** Those in memory. */
  live(): IterableIterator<LiveSession>;
  inMemory(sessionId: string): LiveSession | undefined;
}

const MAX_INTENTS = 10_000;
const SESSION_ID = /^ses_[a-z2-7]{20}$/;

export function createSessionTable(parts: { store: Store; ledger: Ledger; requests: RequestMemory }): SessionTable {
  const { store, ledger, requests } = parts;
  const sessions = new Map<string, LiveSession>();
  const loading = new Map<string, Promise<LiveSession | undefined>>();

  async function load(sessionId: string): Promise<LiveSession | undefined> {
    const row = await store.getState("sessions", sessionId);
    if (row === undefined) return undefined;
    const session = sessionFromJson(parseJson(row));
    const leaseRow = await store.getState("leases", session.leaseId);
    if (leaseRow === undefined) return undefined;
    const lease = leaseFromJson(parseJson(leaseRow));
    const usage = await readUsage(sessionId);
    const account = createBudgetAccount({ limits: lease.budgets, spent: amountsFrom(usage["spent"]) });
    const live = new LiveSession(session, lease, account);
    live.calls = typeof usage["calls"] === "number" ? usage["calls"] : session.calls;
    if (Array.isArray(usage["labels"])) {
      live.addLabels(usage["labels"].map(String));
      live.noteDurableLabels(live.labels);
    }
    // What has ended is not kept: a stranger with old ids cannot fill the memory.
    if (session.state === "closed" || session.state === "expired") return live;
    await restore(live);
    sessions.set(sessionId, live);
    return live;
  }

  async function readUsage(sessionId: string): Promise<JsonObject> {
    const row = await store.getState("sessions", usageKey(sessionId));
    const usage = row === undefined ? {} : parseJson(row);
    return isJsonObject(usage) ? usage : {};
  }

  async function restore(live: LiveSession): Promise<void> {
    await ledger.loadChain(live.id);
    await requests.load(live.id);
    const prefix = dedupeRowPrefix(live.id);
    for (const row of await store.listState("dedupe", prefix, MAX_DEDUPE_KEYS)) {
      live.answersByKey.set(row.key.slice(prefix.length), keptAnswerFromRow(row));
    }
    for (const row of await store.listState("intents", intentKey(live.id, ""), MAX_INTENTS)) {
      const intent = intentFromRow(row);
      const { requestId, requestDigest, settledIndex } = intent;
      if (settledIndex !== undefined) {
        live.settled.set(requestId, { requestDigest, recordIndex: settledIndex });
        continue;
      }
      live.unsettled.set(requestId, intent);
      // Unsettled effects count as spent until somebody settles them.
      live.reservedByUnsettled.set(requestId, live.account.restore(intent.reserved));
    }
  }

  async function find(sessionId: string): Promise<LiveSession | undefined> {
    // The table holds other rows beside the sessions' own.
    if (!SESSION_ID.test(sessionId)) return undefined;
    const known = sessions.get(sessionId) ?? loading.get(sessionId);
    if (known !== undefined) return known;
    const loaded = load(sessionId).finally(() => loading.delete(sessionId));
    loading.set(sessionId, loaded);
    return loaded;
  }

  async function authenticateLoaded(token: string, sessionId: string): Promise<LiveSession | undefined> {
    const live = await find(sessionId);
    return live !== undefined && verifySessionToken(token, live.session) ? live : undefined;
  }

  return {
    authenticate(token) {
      const parsed = parseToken(token);
      if (parsed === undefined) return undefined;
      const live = sessions.get(parsed.sessionId);
      if (live === undefined) return authenticateLoaded(token, parsed.sessionId);
      return verifySessionToken(token, live.session) ? live : undefined;
    },
    find,
    add: (live) => void sessions.set(live.id, live),
    forget(sessionId) {
      sessions.delete(sessionId);
      requests.forget(sessionId);
      ledger.forgetChain(sessionId);
    },
    live: () => sessions.values(),
    inMemory: (sessionId) => sessions.get(sessionId),
  };
}

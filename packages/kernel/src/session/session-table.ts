import { isJsonObject, type JsonObject, parseJson, parseToken } from "@narthex/contracts";
import { createBudgetAccount } from "../budget/budget-account.ts";
import { dedupeRowPrefix, dedupeEntryFromRow, MAX_DEDUPE_KEYS } from "../journal/dedupe-row.ts";
import { amountsFrom, intentFromRow, intentKey } from "../journal/intent.ts";
import type { UsedRequestIds } from "../journal/used-request-ids.ts";
import { delegatedBudgetFromRow, delegatedBudgetPrefix, readDelegatedBudgetRow } from "../lease/delegated-budget.ts";
import { leaseFromJson } from "../lease/lease-to-json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Store } from "../ports.ts";
import { rootSession } from "./lineage.ts";
import { LiveSession, usageKey } from "./live-session.ts";
import { sessionFromJson } from "./session-to-json.ts";
import { verifySessionToken } from "./verify-session-token.ts";

/**
 * The sessions of this kernel. Sessions that have not ended stay in memory after their first use; the others are in the
 * store only.
 */
export interface SessionTable {
  /** The session that this token authenticates, in any state. */
  authenticate(token: string): Promise<LiveSession | undefined> | LiveSession | undefined;
  find(sessionId: string): Promise<LiveSession | undefined>;
  add(live: LiveSession): void;
  forget(sessionId: string): void;
  /** The sessions in memory. */
  live(): IterableIterator<LiveSession>;
  inMemory(sessionId: string): LiveSession | undefined;
}

const MAX_INTENTS = 10_000;
/** More than the open leases of a tree, plus the reservations kept for unknown outcomes of ended sessions. */
const MAX_DELEGATED_BUDGETS = 20_000;
const NONE: readonly string[] = [];
const SESSION_ID = /^ses_[a-z2-7]{20}$/;

export interface SessionTableParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly requests: UsedRequestIds;
  /** Storage limit for a session together with its descendants. */
  readonly maxStoredBytes: number;
}

export function createSessionTable({ store, ledger, requests, maxStoredBytes }: SessionTableParts): SessionTable {
  const sessions = new Map<string, LiveSession>();
  const loading = new Map<string, Promise<LiveSession | undefined>>();

  async function load(sessionId: string, below: readonly string[]): Promise<LiveSession | undefined> {
    const row = await store.getState("sessions", sessionId);
    if (row === undefined) return undefined;
    const session = sessionFromJson(parseJson(row));
    const leaseRow = await store.getState("leases", session.leaseId);
    if (leaseRow === undefined) return undefined;
    const lease = leaseFromJson(parseJson(leaseRow));
    const usage = await readUsage(sessionId);
    const account = createBudgetAccount({ limits: lease.budgets, spent: amountsFrom(usage["spent"]) });
    const { parentSessionId } = session;
    const parent = parentSessionId === undefined ? undefined : await find(parentSessionId, [...below, sessionId]);
    // SECURITY: a lease whose recorded parent does not match grants nothing.
    if (lease.parentId !== parent?.lease.id || (parentSessionId !== undefined && parent === undefined))
      return undefined;
    const live = new LiveSession(session, lease, account, parent);
    live.calls = typeof usage["calls"] === "number" ? usage["calls"] : session.calls;
    if (Array.isArray(usage["labels"])) {
      live.addLabels(usage["labels"].map(String));
      live.noteDurableLabels(live.labels);
    }
    if (parent !== undefined) live.addLabels(parent.labels);
    // Ended sessions are not kept, so that an attacker with old ids cannot fill the memory.
    if (session.state === "closed" || session.state === "expired") return live;
    // INVARIANT: all ancestors of a session in memory are in memory too, so that each has a single account.
    parent?.children.set(sessionId, live);
    try {
      await restore(live);
    } catch (fault) {
      parent?.children.delete(sessionId);
      throw fault;
    }
    hold(live);
    return live;
  }

  function hold(live: LiveSession): void {
    sessions.set(live.id, live);
    if (live.parent === undefined) live.maxStoredBytes = maxStoredBytes;
    // The bytes stored by ended descendants are already part of their parent's account.
    rootSession(live).treeStoredBytes += live.account.spent().stored_bytes ?? 0;
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
      live.dedupeEntries.set(row.key.slice(prefix.length), dedupeEntryFromRow(row));
    }
    for (const row of await store.listState("intents", intentKey(live.id, ""), MAX_INTENTS)) {
      const intent = intentFromRow(row);
      const { requestId, requestDigest, settledIndex } = intent;
      if (settledIndex !== undefined) {
        live.settled.set(requestId, { requestDigest, recordIndex: settledIndex });
        continue;
      }
      live.unsettled.set(requestId, intent);
      // Unsettled effects count as spent until they are settled.
      live.reservedByUnsettled.set(requestId, live.account.restore(intent.reserved));
    }
    for (const row of await store.listState("leases", delegatedBudgetPrefix(live.lease.id), MAX_DELEGATED_BUDGETS)) {
      const carving = delegatedBudgetFromRow(row, live.account);
      live.delegatedBudgets.set(carving.leaseId, carving);
    }
    if (live.parent === undefined) live.descendantCount = await countBelow(live.lease.id);
  }

  async function countBelow(leaseId: string): Promise<number> {
    const rows = await store.listState("leases", delegatedBudgetPrefix(leaseId), MAX_DELEGATED_BUDGETS);
    const open = rows.map(readDelegatedBudgetRow).filter(({ hasSessionEnded }) => !hasSessionEnded);
    let count = open.length;
    for (const carving of open) count += await countBelow(carving.leaseId);
    return count;
  }

  /** `below` are the descendants that wait for this session to load; a cycle yields undefined. */
  async function find(sessionId: string, below: readonly string[] = NONE): Promise<LiveSession | undefined> {
    // The table also contains rows that are not sessions.
    if (!SESSION_ID.test(sessionId) || below.includes(sessionId)) return undefined;
    const known = sessions.get(sessionId) ?? loading.get(sessionId);
    if (known !== undefined) return known;
    const loaded = load(sessionId, below).finally(() => loading.delete(sessionId));
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
    find: (sessionId) => find(sessionId),
    add(live) {
      hold(live);
      live.parent?.children.set(live.id, live);
    },
    forget(sessionId) {
      sessions.get(sessionId)?.parent?.children.delete(sessionId);
      sessions.delete(sessionId);
      requests.forget(sessionId);
      ledger.forgetChain(sessionId);
    },
    live: () => sessions.values(),
    inMemory: (sessionId) => sessions.get(sessionId),
  };
}

import { MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { BudgetShortfall } from "../budget/budget-account.ts";
import { rootSession } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";

/** How many more bytes a session may store, together with all sessions of its tree. */
export function remainingTreeBytes(live: LiveSession): number {
  const { maxStoredBytes, treeStoredBytes } = rootSession(live);
  return Math.max(0, maxStoredBytes - treeStoredBytes);
}

/**
 * Counts bytes before they are written; answers what is missing, and counts nothing then.
 *
 * SECURITY: a bound of the kernel's configuration, beside the budgets of leases: splitting a session off makes no room.
 * Tested by "sessions of one tree share what they may store".
 */
export function countTreeBytes(live: LiveSession, bytes: number): BudgetShortfall | undefined {
  const remaining = remainingTreeBytes(live);
  if (bytes > remaining) return { dimension: "stored_bytes", asked: bytes, remaining };
  rootSession(live).treeStoredBytes += bytes;
  return undefined;
}

/** Counts a small input, which lies in the ledger itself and is no part of any budget. Large ones are charged as content. */
export function countRowBytes(live: LiveSession, bytes: number): void {
  if (bytes <= MAX_ROW_CONTENT_BYTES) rootSession(live).treeStoredBytes += bytes;
}

/** Replaces what was counted for a call by what it really stored. */
export function settleTreeBytes(live: LiveSession, countedBytes: number, storedBytes: number): void {
  rootSession(live).treeStoredBytes += storedBytes - countedBytes;
}

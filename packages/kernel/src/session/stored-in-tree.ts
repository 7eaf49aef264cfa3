import { MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import type { BudgetShortfall } from "../budget/budget-account.ts";
import { rootOf } from "./lineage.ts";
import type { LiveSession } from "./live-session.ts";

/** How many more bytes a session may store, together with all sessions of its tree. */
export function storedLeft(live: LiveSession): number {
  const { maxStoredBytes, storedInTree } = rootOf(live);
  return Math.max(0, maxStoredBytes - storedInTree);
}

/**
 * Counts bytes before they are written; answers what is missing, and counts nothing then.
 *
 * SECURITY: a bound of the kernel's configuration, beside the budgets of leases: splitting a session off makes no room.
 * Tested by "sessions of one tree share what they may store".
 */
export function countStored(live: LiveSession, bytes: number): BudgetShortfall | undefined {
  const remaining = storedLeft(live);
  if (bytes > remaining) return { dimension: "stored_bytes", asked: bytes, remaining };
  rootOf(live).storedInTree += bytes;
  return undefined;
}

/** Counts a small input, which lies in the ledger itself and is no part of any budget. Large ones are charged as content. */
export function countRow(live: LiveSession, bytes: number): void {
  if (bytes <= MAX_ROW_CONTENT_BYTES) rootOf(live).storedInTree += bytes;
}

/** Replaces what was counted for a call by what it really stored. */
export function settleStored(live: LiveSession, countedBytes: number, storedBytes: number): void {
  rootOf(live).storedInTree += storedBytes - countedBytes;
}

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
 * Counts bytes before they are written. If the limit would be exceeded, counts nothing and returns the shortfall.
 *
 * SECURITY: the limit is part of the kernel's configuration, in addition to lease budgets: delegating does not create
 * more room. Tested by "sessions of one tree share their storage limit, and another tree does not".
 */
export function countTreeBytes(live: LiveSession, bytes: number): BudgetShortfall | undefined {
  const remaining = remainingTreeBytes(live);
  if (bytes > remaining) return { dimension: "stored_bytes", asked: bytes, remaining };
  rootSession(live).treeStoredBytes += bytes;
  return undefined;
}

/**
 * Counts a small input, which is stored in the ledger itself and belongs to no budget. Large inputs are charged as
 * content.
 */
export function countRowBytes(live: LiveSession, bytes: number): void {
  if (bytes <= MAX_ROW_CONTENT_BYTES) rootSession(live).treeStoredBytes += bytes;
}

/** Replaces the bytes counted for a call by the bytes it actually stored. */
export function settleTreeBytes(live: LiveSession, countedBytes: number, storedBytes: number): void {
  rootSession(live).treeStoredBytes += storedBytes - countedBytes;
}

import type { OneTimeApprovalRow } from "./approval-rows.ts";
import { inputDigestOfKey } from "./approval-subject.ts";

/** One-time approvals that no call has used: available, or claimed by a call. */
export interface OneTimeApprovals {
  add(row: OneTimeApprovalRow, options: { readonly isTaken: boolean }): void;
  /** Claims an available approval with this key. */
  claim(key: string, nowMs: number): OneTimeApprovalRow | undefined;
  /** Verifies that the call that claimed the approval may use it now. */
  consume(approvalId: string, key: string, nowMs: number): boolean;
  /** Makes a consumed approval available again after its call ended without using it; returns whether it did. */
  restore(approvalId: string): boolean;
  /** Releases the claim of a caller that has left. */
  unclaim(approvalId: string): void;
  /** Removes an approval unless a call has claimed it. */
  removeAvailable(approvalId: string): OneTimeApprovalRow | undefined;
  remove(approvalId: string): OneTimeApprovalRow | undefined;
  /** Removes the approvals of a session; returns their ids. */
  removeSession(sessionId: string): readonly string[];
  /** Removes the approvals of these inputs, given as hex; returns their ids. */
  removeInputs(inputDigests: ReadonlySet<string>): readonly string[];
  clear(): void;
}

interface Held {
  readonly row: OneTimeApprovalRow;
  state: "free" | "taken" | "redeemed";
  readonly expiry: NodeJS.Timeout;
}

/** `onExpired` receives each approval that expired unused. */
export function createOneTimeApprovals(
  nowMs: () => number,
  onExpired: (row: OneTimeApprovalRow) => void,
): OneTimeApprovals {
  const held = new Map<string, Held>();
  const isGood = ({ row }: Held, now: number): boolean => now < row.expiresAtMs;

  function remove(approvalId: string): OneTimeApprovalRow | undefined {
    const found = held.get(approvalId);
    if (found === undefined) return undefined;
    clearTimeout(found.expiry);
    held.delete(approvalId);
    return found.row;
  }

  function removeAll(isMeant: (row: OneTimeApprovalRow) => boolean): string[] {
    const ids = [...held.values()].filter(({ row }) => isMeant(row)).map(({ row }) => row.approvalId);
    for (const approvalId of ids) remove(approvalId);
    return ids;
  }

  function removeFree(approvalId: string): OneTimeApprovalRow | undefined {
    return held.get(approvalId)?.state === "free" ? remove(approvalId) : undefined;
  }

  return {
    add(row, { isTaken }) {
      const expire = (): void => {
        // A call that has claimed the approval learns of the expiry when it tries to use it.
        if (removeFree(row.approvalId) !== undefined) onExpired(row);
      };
      const expiry = setTimeout(expire, Math.max(0, row.expiresAtMs - nowMs())).unref();
      held.set(row.approvalId, { row, state: isTaken ? "taken" : "free", expiry });
    },
    claim(key, now) {
      for (const yes of held.values()) {
        if (yes.state !== "free" || yes.row.key !== key || !isGood(yes, now)) continue;
        yes.state = "taken";
        return yes.row;
      }
      return undefined;
    },
    consume(approvalId, key, now) {
      const yes = held.get(approvalId);
      if (yes?.state !== "taken" || yes.row.key !== key || !isGood(yes, now)) return false;
      yes.state = "redeemed";
      return true;
    },
    restore(approvalId) {
      const yes = held.get(approvalId);
      if (yes?.state !== "redeemed" || !isGood(yes, nowMs())) return false;
      yes.state = "free";
      return true;
    },
    unclaim(approvalId) {
      const yes = held.get(approvalId);
      if (yes?.state === "taken") yes.state = "free";
    },
    removeAvailable: removeFree,
    remove,
    removeSession: (sessionId) => removeAll((row) => row.sessionId === sessionId),
    removeInputs: (inputDigests) => removeAll((row) => inputDigests.has(inputDigestOfKey(row.key))),
    clear() {
      for (const approvalId of held.keys()) remove(approvalId);
    },
  };
}

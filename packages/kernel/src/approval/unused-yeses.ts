import type { YesRow } from "./approval-rows.ts";
import { inputOfKey } from "./approval-subject.ts";

/** Yeses that no call has used, each with whether a call has it in hand. */
export interface UnusedYeses {
  add(row: YesRow, options: { readonly isTaken: boolean }): void;
  /** One for this key that no other call has in hand. */
  take(key: string, nowMs: number): YesRow | undefined;
  /** Proves that a call that has it in hand may use it now. */
  redeem(approvalId: string, key: string, nowMs: number): boolean;
  /** A call that had it in hand has ended without using it: true if it may be used by another, and was put back. */
  putBack(approvalId: string): boolean;
  /** A caller who was to have it has left. */
  free(approvalId: string): void;
  /** Takes one out that no call has in hand. */
  removeFree(approvalId: string): YesRow | undefined;
  remove(approvalId: string): YesRow | undefined;
  /** Takes out those of a session, and gives their ids. */
  removeSession(sessionId: string): readonly string[];
  /** The same of those to one of these inputs, as hex. */
  removeInputs(inputDigests: ReadonlySet<string>): readonly string[];
  clear(): void;
}

interface Held {
  readonly row: YesRow;
  state: "free" | "taken" | "redeemed";
  readonly expiry: NodeJS.Timeout;
}

/** `onExpired` is told of those that nobody used in time. */
export function createUnusedYeses(nowMs: () => number, onExpired: (row: YesRow) => void): UnusedYeses {
  const held = new Map<string, Held>();
  const isGood = ({ row }: Held, now: number): boolean => now < row.expiresAtMs;

  function remove(approvalId: string): YesRow | undefined {
    const found = held.get(approvalId);
    if (found === undefined) return undefined;
    clearTimeout(found.expiry);
    held.delete(approvalId);
    return found.row;
  }

  function removeAll(isMeant: (row: YesRow) => boolean): string[] {
    const ids = [...held.values()].filter(({ row }) => isMeant(row)).map(({ row }) => row.approvalId);
    for (const approvalId of ids) remove(approvalId);
    return ids;
  }

  function removeFree(approvalId: string): YesRow | undefined {
    return held.get(approvalId)?.state === "free" ? remove(approvalId) : undefined;
  }

  return {
    add(row, { isTaken }) {
      const expire = (): void => {
        // A call that has it in hand is told so when it wants to use it.
        if (removeFree(row.approvalId) !== undefined) onExpired(row);
      };
      const expiry = setTimeout(expire, Math.max(0, row.expiresAtMs - nowMs())).unref();
      held.set(row.approvalId, { row, state: isTaken ? "taken" : "free", expiry });
    },
    take(key, now) {
      for (const yes of held.values()) {
        if (yes.state !== "free" || yes.row.key !== key || !isGood(yes, now)) continue;
        yes.state = "taken";
        return yes.row;
      }
      return undefined;
    },
    redeem(approvalId, key, now) {
      const yes = held.get(approvalId);
      if (yes?.state !== "taken" || yes.row.key !== key || !isGood(yes, now)) return false;
      yes.state = "redeemed";
      return true;
    },
    putBack(approvalId) {
      const yes = held.get(approvalId);
      if (yes?.state !== "redeemed" || !isGood(yes, nowMs())) return false;
      yes.state = "free";
      return true;
    },
    free(approvalId) {
      const yes = held.get(approvalId);
      if (yes?.state === "taken") yes.state = "free";
    },
    removeFree,
    remove,
    removeSession: (sessionId) => removeAll((row) => row.sessionId === sessionId),
    removeInputs: (inputDigests) => removeAll((row) => inputDigests.has(inputOfKey(row.key))),
    clear() {
      for (const approvalId of held.keys()) remove(approvalId);
    },
  };
}

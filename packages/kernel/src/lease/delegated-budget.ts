import { canonicalJsonBytes, isJsonObject, KernelError, parseJson } from "@narthex/contracts";
import type { BudgetAccount, Reservation } from "../budget/budget-account.ts";
import { budgetToJson } from "../budget/parse-budget-limits.ts";
import { amountsFrom } from "../journal/intent.ts";
import type { StateChange, StateRow } from "../ports.ts";

/** The part of a session's budget that is reserved for a child lease. */
export interface DelegatedBudget {
  readonly leaseId: string;
  /** Session that holds the child lease. */
  readonly sessionId: string;
  readonly reservation: Reservation;
  /** When the child lease expires. */
  readonly expiresAtMs: number;
  /** The child's session has ended; the remaining reservation is for calls whose outcome is unknown. */
  readonly hasSessionEnded: boolean;
}

/**
 * Stored in the table of leases under the parent's id, so that all delegated budgets of a lease are found by its id.
 */
export function delegatedBudgetRow(parentLeaseId: string, carving: DelegatedBudget): StateChange {
  const value = canonicalJsonBytes({
    ended: carving.hasSessionEnded,
    expires_at_ms: carving.expiresAtMs,
    reserved: budgetToJson(carving.reservation.amounts),
    session_id: carving.sessionId,
  });
  return { table: "leases", key: delegatedBudgetPrefix(parentLeaseId) + carving.leaseId, value };
}

export function removedDelegatedBudgetRow(parentLeaseId: string, leaseId: string): StateChange {
  return { table: "leases", key: delegatedBudgetPrefix(parentLeaseId) + leaseId, value: undefined };
}

export function delegatedBudgetPrefix(parentLeaseId: string): string {
  return `${parentLeaseId}/`;
}

/** Restores a reservation after a restart. */
export function delegatedBudgetFromRow(row: StateRow, account: BudgetAccount): DelegatedBudget {
  const { reserved, ...facts } = readDelegatedBudgetRow(row);
  return { ...facts, reservation: account.restore(amountsFrom(reserved)) };
}

/** Reads a row without reserving anything. */
export function readDelegatedBudgetRow({
  key,
  value,
}: StateRow): Omit<DelegatedBudget, "reservation"> & { readonly reserved: unknown } {
  const row = parseJson(value);
  if (!isJsonObject(row)) throw damaged();
  const { session_id: sessionId, expires_at_ms: expiresAtMs, ended, reserved } = row;
  if (typeof sessionId !== "string" || typeof expiresAtMs !== "number" || typeof ended !== "boolean") throw damaged();
  return { leaseId: key.slice(key.indexOf("/") + 1), sessionId, expiresAtMs, hasSessionEnded: ended, reserved };
}

function damaged(): KernelError {
  return new KernelError("STORE_UNAVAILABLE", "what a lease handed on cannot be read: its row is damaged");
}

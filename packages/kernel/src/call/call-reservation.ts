import type { BudgetAmounts } from "../budget/budget.ts";
import type { Lease } from "../lease/lease.ts";
import type { ToolDeclaration } from "../tool/tool.ts";

/**
 * What a call sets aside before it runs: fixed amounts, and wall time up to its bound. Stored bytes are reserved as
 * they come, each before it is written, since their bound would block every other call.
 */
export function callReservation(
  tool: ToolDeclaration,
  lease: Lease,
  timeoutMs: number,
): [fixed: BudgetAmounts, upTo: BudgetAmounts] {
  const fixed = { calls: 1, cost_units: tool.price };
  return lease.budgets.wall_ms === undefined ? [fixed, NOTHING] : [fixed, { wall_ms: timeoutMs }];
}

const NOTHING: BudgetAmounts = {};

/** The smaller of the call's bound and what is left of the time its caller will wait. */
export function timeoutFor(boundMs: number, remainingMs: number): number {
  return Math.max(1, Math.ceil(Math.min(boundMs, remainingMs)));
}

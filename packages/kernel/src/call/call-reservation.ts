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
  callerTimeoutMs: number | undefined,
): [fixed: BudgetAmounts, upTo: BudgetAmounts] {
  const fixed = { calls: 1, cost_units: tool.price };
  if (lease.budgets.wall_ms === undefined) return [fixed, {}];
  return [fixed, { wall_ms: timeoutFor(tool, callerTimeoutMs) }];
}

/** The smaller of the tool's bound and what the caller will wait for. */
export function timeoutFor(tool: ToolDeclaration, callerTimeoutMs: number | undefined): number {
  return Math.max(1, Math.ceil(Math.min(tool.bounds.timeoutMs, callerTimeoutMs ?? Number.POSITIVE_INFINITY)));
}

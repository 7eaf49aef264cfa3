export const BUDGET_DIMENSIONS = [
  "calls",
  "cost_units",
  "inference_tokens",
  "wall_ms",
  "cpu_ms",
  "network_bytes",
  "stored_bytes",
] as const;
export type BudgetDimension = (typeof BUDGET_DIMENSIONS)[number];

/** Absent is unlimited, zero is zero. Whole numbers from 0 to 2^53 - 1. */
export type BudgetLimits = { readonly [D in BudgetDimension]?: number };

/** Amounts of some dimensions; absent is none. */
export type BudgetAmounts = { readonly [D in BudgetDimension]?: number };

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

/** Limits per dimension: whole numbers from 0 to 2^53 - 1. An absent dimension is unlimited; zero allows nothing. */
export type BudgetLimits = { readonly [D in BudgetDimension]?: number };

/** Amounts per dimension; an absent one counts as zero. */
export type BudgetAmounts = { readonly [D in BudgetDimension]?: number };

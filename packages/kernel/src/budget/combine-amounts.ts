import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension, type BudgetLimits } from "./budget.ts";

/** Subtracts amounts per dimension, down to zero at least. */
export function subtractAmounts(from: BudgetAmounts, taken: BudgetAmounts): BudgetAmounts {
  return collectAmounts((dimension) => Math.max(0, (from[dimension] ?? 0) - (taken[dimension] ?? 0)));
}

export function addAmounts(first: BudgetAmounts, second: BudgetAmounts): BudgetAmounts {
  return collectAmounts((dimension) => (first[dimension] ?? 0) + (second[dimension] ?? 0));
}

/** Returns the amounts in dimensions with a limit: the others need no reservation. */
export function limitedAmounts(limits: BudgetLimits, amounts: BudgetAmounts): BudgetAmounts {
  return collectAmounts((dimension) => (limits[dimension] === undefined ? 0 : (amounts[dimension] ?? 0)));
}

export function isNothing(amounts: BudgetAmounts): boolean {
  return BUDGET_DIMENSIONS.every((dimension) => (amounts[dimension] ?? 0) === 0);
}

function collectAmounts(amountOf: (dimension: BudgetDimension) => number): BudgetAmounts {
  const amounts: { [D in BudgetDimension]?: number } = {};
  for (const dimension of BUDGET_DIMENSIONS) {
    const amount = amountOf(dimension);
    if (amount > 0) amounts[dimension] = amount;
  }
  return amounts;
}

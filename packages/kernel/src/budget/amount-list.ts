import type { BudgetAmounts } from "./budget.ts";

/** Amounts as the ledger lists them. */
export function amountList(amounts: BudgetAmounts): { readonly dimension: string; readonly amount: number }[] {
  return Object.entries(amounts).map(([dimension, amount]) => ({ dimension, amount }));
}

import type { BudgetAmounts } from "./budget.ts";

/** Converts amounts to the list in ledger entries. */
export function amountList(amounts: BudgetAmounts): { readonly dimension: string; readonly amount: number }[] {
  return Object.entries(amounts).map(([dimension, amount]) => ({ dimension, amount }));
}

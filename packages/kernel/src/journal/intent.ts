import { canonicalJsonBytes, isJsonObject, type JsonObject, KernelError, parseJson } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension } from "../budget/budget.ts";
import type { StateChange, StateRow } from "../ports.ts";

/** A call that may have effects and has no outcome yet. Kept in the store from before it runs until it is settled. */
export interface Intent {
  readonly sessionId: string;
  readonly requestId: string;
  readonly tool: string;
  /** Hex. */
  readonly inputDigest: string;
  readonly startedAtMs: number;
  readonly callNumber: number;
  /** The record that holds it. */
  readonly recordIndex: number;
  readonly reserved: BudgetAmounts;
}

export function intentRow(intent: Intent): StateChange {
  const row: JsonObject = {
    call_number: intent.callNumber,
    input_digest: intent.inputDigest,
    record_index: intent.recordIndex,
    reserved: { ...intent.reserved },
    started_at_ms: intent.startedAtMs,
    tool: intent.tool,
  };
  return { table: "intents", key: intentKey(intent.sessionId, intent.requestId), value: canonicalJsonBytes(row) };
}

export function settledIntentRow(sessionId: string, requestId: string): StateChange {
  return { table: "intents", key: intentKey(sessionId, requestId), value: undefined };
}

export function intentFromRow(row: StateRow): Intent {
  const value = parseJson(row.value);
  // Session ids hold no slash; request ids may hold any number.
  const slash = row.key.indexOf("/");
  if (!isJsonObject(value) || slash < 0) throw new KernelError("INTERNAL", "an intent's row is damaged");
  return {
    sessionId: row.key.slice(0, slash),
    requestId: row.key.slice(slash + 1),
    tool: String(value["tool"]),
    inputDigest: String(value["input_digest"]),
    startedAtMs: Number(value["started_at_ms"]),
    callNumber: Number(value["call_number"]),
    recordIndex: Number(value["record_index"]),
    reserved: amountsFrom(value["reserved"]),
  };
}

/** Amounts that this kernel wrote; anything else in them is dropped. */
export function amountsFrom(value: unknown): BudgetAmounts {
  const amounts: { [D in BudgetDimension]?: number } = {};
  if (typeof value !== "object" || value === null) return amounts;
  for (const dimension of BUDGET_DIMENSIONS) {
    const amount: unknown = Reflect.get(value, dimension);
    if (typeof amount === "number" && Number.isSafeInteger(amount) && amount >= 0) amounts[dimension] = amount;
  }
  return amounts;
}

function intentKey(sessionId: string, requestId: string): string {
  return `${sessionId}/${requestId}`;
}

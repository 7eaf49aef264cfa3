import { canonicalJsonBytes, isJsonObject, type JsonObject, KernelError, parseJson } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension } from "../budget/budget.ts";
import type { StateChange, StateRow } from "../ports.ts";

/** A call that may have effects and has no outcome yet. Kept in the store from before it runs until it is settled. */
export interface Intent {
  readonly sessionId: string;
  readonly requestId: string;
  readonly dedupeKey: string;
  readonly tool: string;
  /** Hex. */
  readonly inputDigest: string;
  /** Hex. */
  readonly requestDigest: string;
  readonly startedAtMs: number;
  readonly callNumber: number;
  /** The call's first record, with what it asked; an earlier one than the intent's if a person was asked. */
  readonly firstRecordIndex: number;
  /** The record that holds the intent. */
  readonly recordIndex: number;
  readonly reserved: BudgetAmounts;
  /**
   * The record in which a person said that it happened. The row stays until the session ends: the result is lost, and
   * the call must never be run again under its id.
   */
  readonly settledIndex?: number | undefined;
  /** It was under way in a home that this one is a copy of: nobody but a person can tell what became of it. */
  readonly isCopied?: boolean;
  /**
   * Of a call that changes nothing but through programs without network: the start of the kernel that ran them, for the proof
   * that they have ended.
   */
  readonly run?: string;
  /** Secrets were taken out of its recorded input, so that no tool can tell from it what became of the call. */
  readonly isRedacted?: boolean;
}

export function intentRow(intent: Intent): StateChange {
  const row: JsonObject = {
    call_number: intent.callNumber,
    dedupe_key: intent.dedupeKey,
    first_record_index: intent.firstRecordIndex,
    input_digest: intent.inputDigest,
    record_index: intent.recordIndex,
    request_digest: intent.requestDigest,
    reserved: { ...intent.reserved },
    started_at_ms: intent.startedAtMs,
    tool: intent.tool,
  };
  if (intent.settledIndex !== undefined) row["settled_index"] = intent.settledIndex;
  if (intent.isCopied === true) row["copied"] = true;
  if (intent.isRedacted === true) row["redacted"] = true;
  if (intent.run !== undefined) row["run"] = intent.run;
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
  const settled = value["settled_index"];
  return {
    sessionId: row.key.slice(0, slash),
    requestId: row.key.slice(slash + 1),
    dedupeKey: textOf(value, "dedupe_key"),
    tool: textOf(value, "tool"),
    inputDigest: textOf(value, "input_digest"),
    requestDigest: textOf(value, "request_digest"),
    startedAtMs: Number(value["started_at_ms"]),
    callNumber: Number(value["call_number"]),
    firstRecordIndex: Number(value["first_record_index"]),
    recordIndex: Number(value["record_index"]),
    reserved: amountsFrom(value["reserved"]),
    settledIndex: typeof settled === "number" ? settled : undefined,
    ...(value["copied"] === true && { isCopied: true }),
    ...(value["redacted"] === true && { isRedacted: true }),
    ...(typeof value["run"] === "string" && { run: value["run"] }),
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

export function intentKey(sessionId: string, requestId: string): string {
  return `${sessionId}/${requestId}`;
}

/** Rows are written by this module only; a damaged one is a fault, not a guess. */
function textOf(row: JsonObject, key: string): string {
  const value = row[key];
  if (typeof value !== "string") throw new KernelError("INTERNAL", "an intent's row is damaged");
  return value;
}

import { canonicalJsonBytes, isJsonObject, type JsonObject, KernelError, parseJson } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension } from "../budget/budget.ts";
import type { StateChange, StateRow } from "../ports.ts";

/** A call that may have effects and has no outcome yet. Stored before the call runs, and kept until it is settled. */
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
  /**
   * The call's first record, which holds its request; earlier than the intent's record if a person was asked for
   * approval.
   */
  readonly firstRecordIndex: number;
  /** The record that holds the intent. */
  readonly recordIndex: number;
  readonly reserved: BudgetAmounts;
  /**
   * Record in which a person stated that the call happened. The row stays until the session ends: the result is lost,
   * and the call must never run again under its id.
   */
  readonly settledIndex?: number | undefined;
  /** The call was running in the home that this home was copied from: only a person can tell what became of it. */
  readonly isCopied?: boolean;
  /**
   * Kernel start that ran the call's programs, used to prove that they have ended. Only for a call whose only effects
   * come from programs without network.
   */
  readonly run?: string;
  /** Secrets were removed from the recorded input, so no tool can use it to find out what became of the call. */
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
  // Session ids contain no slash; request ids may contain any number.
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

/** Reads amounts that this kernel wrote; drops anything else. */
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

/** Only this module writes these rows; a damaged row is an error, never guessed. */
function textOf(row: JsonObject, key: string): string {
  const value = row[key];
  if (typeof value !== "string") throw new KernelError("INTERNAL", "an intent's row is damaged");
  return value;
}

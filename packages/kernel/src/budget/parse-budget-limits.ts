import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createJsonReader, type JsonReader, joinField, ownField } from "../capability/json-reader.ts";
import { BUDGET_DIMENSIONS, type BudgetDimension, type BudgetLimits } from "./budget.ts";

const RANGE = { min: 0, max: Number.MAX_SAFE_INTEGER };

/**
 * Parses limits from untrusted JSON; throws LEASE_INVALID with every problem. Zero allows nothing, absent is unlimited.
 */
export function parseBudgetLimits(json: JsonValue, field = "budgets"): BudgetLimits {
  const reader = createJsonReader();
  return reader.finish(readBudgetLimits(reader, json, field), "LEASE_INVALID", "the budget");
}

/** Reads limits that are part of a larger document. */
export function readBudgetLimits(reader: JsonReader, json: JsonValue, field: string): BudgetLimits | undefined {
  const object = reader.object(json, field, BUDGET_DIMENSIONS);
  if (object === undefined) return undefined;
  const limits: { [D in BudgetDimension]?: number } = {};
  for (const dimension of BUDGET_DIMENSIONS) {
    const given = ownField(object, dimension);
    if (given === undefined) continue;
    const limit = reader.wholeNumber(given, joinField(field, dimension), RANGE);
    if (limit !== undefined) limits[dimension] = limit;
  }
  return limits;
}

export function budgetToJson(amounts: BudgetLimits): JsonObject {
  const json: JsonObject = {};
  for (const dimension of BUDGET_DIMENSIONS) {
    const amount = amounts[dimension];
    if (amount !== undefined) json[dimension] = amount;
  }
  return json;
}

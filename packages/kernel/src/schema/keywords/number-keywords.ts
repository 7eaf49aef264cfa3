import type { JsonValue } from "@narthex/contracts";
import type { Check } from "../check.ts";
import { isMultipleOf } from "../multiple-of.ts";
import { fail } from "../report.ts";

/** The limits of a number; undefined where none exists. */
export interface NumberKeywords {
  readonly minimum: JsonValue | undefined;
  readonly maximum: JsonValue | undefined;
  readonly exclusiveMinimum: JsonValue | undefined;
  readonly exclusiveMaximum: JsonValue | undefined;
  readonly multipleOf: JsonValue | undefined;
}

export function checkNumber(keywords: NumberKeywords): Check | undefined {
  if (Object.values(keywords).every((value) => value === undefined)) return undefined;
  const least = Number(keywords.minimum ?? Number.NEGATIVE_INFINITY);
  const most = Number(keywords.maximum ?? Number.POSITIVE_INFINITY);
  const above = Number(keywords.exclusiveMinimum ?? Number.NEGATIVE_INFINITY);
  const below = Number(keywords.exclusiveMaximum ?? Number.POSITIVE_INFINITY);
  const divisor = typeof keywords.multipleOf === "number" ? keywords.multipleOf : undefined;
  return (value, place) => {
    if (typeof value !== "number") return true;
    let ok = true;
    if (value < least) ok = fail(place, "range", `must be at least ${least}`);
    if (value > most) ok = fail(place, "range", `must be at most ${most}`);
    // An absent exclusive limit is infinite, and JSON numbers are finite.
    if (value <= above) ok = fail(place, "range", `must be more than ${above}`);
    if (value >= below) ok = fail(place, "range", `must be less than ${below}`);
    if (divisor !== undefined && !isMultipleOf(value, divisor)) {
      ok = fail(place, "multiple_of", `must be a multiple of ${divisor}`);
    }
    return ok;
  };
}

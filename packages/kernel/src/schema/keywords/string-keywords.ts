import type { Check, Meter } from "../check.ts";
import { FORMAT_HINTS, type FormatTest, formatCost } from "../formats.ts";
import type { Pattern } from "../pattern.ts";
import { printable } from "../printable.ts";
import { fail } from "../report.ts";

export interface StringKeywords {
  readonly minLength: number;
  readonly maxLength: number;
  readonly pattern: Pattern | undefined;
  /** The name of a checked format, and its test. */
  readonly format: readonly [string, FormatTest] | undefined;
}

/** Checks the string keywords. Lengths are in characters: Unicode code points, as in the standard. */
export function checkString(keywords: StringKeywords, meter: Meter): Check | undefined {
  const { minLength, maxLength, pattern, format } = keywords;
  if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && !pattern && !format) return undefined;
  return (value, place) => {
    if (typeof value !== "string") return true;
    let ok = true;
    if (isShorter(value, minLength)) {
      const text = minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`;
      ok = fail(place, minLength === 1 ? "required" : "min_length", text);
    }
    if (isLonger(value, maxLength, meter)) ok = fail(place, "max_length", `must have at most ${maxLength} characters`);
    if (!ok && place === undefined) return false;
    if (pattern !== undefined) {
      meter.spend(pattern.cost(value.length));
      if (!pattern.test(value))
        ok = fail(place, "format", `must match the pattern \`${printable(pattern.source, 200)}\``);
    }
    if (format !== undefined) {
      const [name, test] = format;
      meter.spend(formatCost(name, value.length));
      if (!test(value)) ok = fail(place, "format", `must be in the format ${name}${FORMAT_HINTS.get(name) ?? ""}`);
    }
    return ok;
  };
}

/** A text of n code units has between n / 2 and n code points, so most texts need no exact count. */
function isShorter(text: string, least: number): boolean {
  if (text.length < least) return true;
  return text.length < 2 * least && countCodePoints(text) < least;
}

function isLonger(text: string, most: number, meter: Meter): boolean {
  if (text.length <= most) return false;
  if (text.length > 2 * most) return true;
  meter.spend(text.length >> 2);
  return countCodePoints(text) > most;
}

function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count--;
      index++;
    }
  }
  return count;
}

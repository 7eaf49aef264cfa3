import { type Check, Evaluated, isObject, type Meter } from "../check.ts";
import { printable } from "../printable.ts";
import { childPlace, fail } from "../report.ts";

export interface UnevaluatedKeywords {
  readonly properties: Check | undefined;
  /** Whether the schema for properties is `false`. */
  readonly closed: boolean;
  readonly items: Check | undefined;
}

/** Runs the schema's other keywords first, then applies `unevaluated...` to the parts that none of them evaluated. */
export function checkUnevaluated(others: Check, keywords: UnevaluatedKeywords, meter: Meter): Check {
  return (value, place, seen) => {
    const own = new Evaluated();
    let ok = others(value, place, own);
    if (!ok && place === undefined) return false;
    if (isObject(value) && keywords.properties !== undefined) {
      for (const key of Object.keys(value)) {
        meter.spend(1);
        if (own.keys.has(key)) continue;
        own.keys.add(key);
        const at = childPlace(place, key);
        if (keywords.closed) ok = fail(at, "unknown_field", `unknown field '${printable(key)}'`);
        else if (!keywords.properties(value[key], at, undefined)) ok = false;
      }
    } else if (Array.isArray(value) && keywords.items !== undefined) {
      for (const [index, item] of value.entries()) {
        meter.spend(1);
        if (own.indexes.has(index)) continue;
        own.indexes.add(index);
        if (!keywords.items(item, childPlace(place, index), undefined)) ok = false;
      }
    }
    seen?.add(own);
    return ok;
  };
}

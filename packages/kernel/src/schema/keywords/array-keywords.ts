import type { JsonArray } from "@narthex/contracts";
import type { Check, Evaluated, Meter } from "../check.ts";
import { keyOf } from "../equal-json.ts";
import { childPlace, fail, type Place } from "../report.ts";

export interface ArrayKeywords {
  readonly minItems: number;
  readonly maxItems: number;
  readonly uniqueItems: boolean;
  readonly prefix: readonly Check[];
  /** Check for every item after the prefix. */
  readonly rest: Check | undefined;
  /** Whether `rest` is the schema `false`. */
  readonly closed: boolean;
  readonly contains: { readonly check: Check; readonly least: number; readonly most: number } | undefined;
}

export function checkArray(keywords: ArrayKeywords, meter: Meter): Check {
  const { minItems, maxItems, uniqueItems, prefix, rest, closed, contains } = keywords;
  return (value, place, seen) => {
    if (!Array.isArray(value)) return true;
    meter.spend(value.length);
    let ok = true;
    if (value.length < minItems) ok = fail(place, "min_items", `must have at least ${minItems} items`);
    if (value.length > maxItems) ok = fail(place, "max_items", `must have at most ${maxItems} items`);
    if (closed && value.length > prefix.length) {
      ok = fail(place, "max_items", `must have at most ${prefix.length} items`);
    }
    if (!ok && place === undefined) return false;
    if (!checkItems(value, prefix, closed ? undefined : rest, place, seen)) ok = false;
    if (!ok && place === undefined) return false;
    if (contains !== undefined && !checkContains(value, contains, place, seen)) ok = false;
    if (uniqueItems && !isUnique(value, place, meter)) ok = false;
    return ok;
  };
}

function checkItems(
  items: JsonArray,
  prefix: readonly Check[],
  rest: Check | undefined,
  place: Place | undefined,
  seen: Evaluated | undefined,
): boolean {
  const end = rest === undefined ? Math.min(prefix.length, items.length) : items.length;
  let ok = true;
  for (let index = 0; index < end; index++) {
    const check = prefix[index] ?? rest;
    seen?.indexes.add(index);
    if (check === undefined || check(items[index], childPlace(place, index), undefined)) continue;
    if (place === undefined) return false;
    ok = false;
    if (place.report.full) return false;
  }
  return ok;
}

function checkContains(
  items: JsonArray,
  contains: NonNullable<ArrayKeywords["contains"]>,
  place: Place | undefined,
  seen: Evaluated | undefined,
): boolean {
  let found = 0;
  for (const [index, item] of items.entries()) {
    if (!contains.check(item, undefined, undefined)) continue;
    found++;
    seen?.indexes.add(index);
  }
  if (found < contains.least) {
    return fail(place, "contains", `must contain at least ${contains.least} items of the described kind, has ${found}`);
  }
  if (found > contains.most) {
    return fail(place, "contains", `must contain at most ${contains.most} items of the described kind, has ${found}`);
  }
  return true;
}

/** Checks uniqueness with a set of the items' keys: comparing all pairs would take quadratic time. */
function isUnique(items: JsonArray, place: Place | undefined, meter: Meter): boolean {
  const first = new Map<string, number>();
  let ok = true;
  for (const [index, item] of items.entries()) {
    const key = keyOf(item, meter);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      continue;
    }
    if (place === undefined) return false;
    ok = fail(childPlace(place, index), "duplicate", `is the same as item ${earlier}`);
    if (place.report.full) return false;
  }
  return ok;
}

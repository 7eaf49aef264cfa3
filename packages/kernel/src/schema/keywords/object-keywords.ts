import type { JsonObject } from "@narthex/contracts";
import type { Check, Evaluated, Meter } from "../check.ts";
import { isObject } from "../check.ts";
import type { Pattern } from "../pattern.ts";
import { printable } from "../printable.ts";
import { childPlace, fail, fieldOf, type Place, placeIn } from "../report.ts";
import { cut } from "./type-keywords.ts";

export interface ObjectKeywords {
  readonly required: readonly string[];
  readonly dependentRequired: ReadonlyMap<string, readonly string[]>;
  readonly properties: ReadonlyMap<string, Check>;
  readonly patterns: readonly (readonly [Pattern, Check])[];
  /** Check for every property that matches neither a name nor a pattern. */
  readonly rest: Check | undefined;
  /** Whether `rest` is the schema `false`. */
  readonly closed: boolean;
  readonly names: Check | undefined;
  readonly minProperties: number;
  readonly maxProperties: number;
}

/**
 * SECURITY: only own properties count, whatever their names: `__proto__`, `constructor` and `toString` are ordinary
 * keys here, never inherited.
 */
export function checkObject(keywords: ObjectKeywords, meter: Meter): Check {
  const { required, dependentRequired, minProperties, maxProperties, names } = keywords;
  const checkProperties = propertyChecker(keywords, meter);
  const fixedCost = 1 + required.length + dependentRequired.size;
  return (value, place, seen) => {
    if (!isObject(value)) return true;
    const keys = Object.keys(value);
    meter.spend(fixedCost + keys.length);
    let ok = true;
    for (const name of required) {
      if (Object.hasOwn(value, name)) continue;
      if (place === undefined) return false;
      ok = missing(place, name);
    }
    if (keys.length < minProperties) ok = fail(place, "min_items", `must have at least ${minProperties} fields`);
    if (keys.length > maxProperties) ok = fail(place, "max_items", `must have at most ${maxProperties} fields`);
    if (!ok && place === undefined) return false;
    if (dependentRequired.size > 0 && !checkDependents(value, dependentRequired, place)) ok = false;
    if (names !== undefined && !checkNames(keys, names, place)) ok = false;
    if (!ok && place === undefined) return false;
    return checkProperties(value, keys, place, seen) && ok;
  };
}

type PropertyChecker = (
  value: JsonObject,
  keys: readonly string[],
  place: Place | undefined,
  seen: Evaluated | undefined,
) => boolean;

function propertyChecker(keywords: ObjectKeywords, meter: Meter): PropertyChecker {
  const { properties, patterns, rest, closed } = keywords;
  const allowed = patterns.length === 0 && properties.size > 0 ? `; allowed: ${cut([...properties.keys()])}` : "";
  return (value, keys, place, seen) => {
    let ok = true;
    for (const key of keys) {
      const property = properties.get(key);
      let covered = property !== undefined;
      if (property !== undefined && !property(value[key], childPlace(place, key), undefined)) ok = false;
      for (const [pattern, check] of patterns) {
        meter.spend(pattern.cost(key.length));
        if (!pattern.test(key)) continue;
        covered = true;
        if (!check(value[key], childPlace(place, key), undefined)) ok = false;
      }
      if (!covered && closed) {
        ok =
          place !== undefined &&
          fail(childPlace(place, key), "unknown_field", `unknown field '${printable(key)}'${allowed}`);
      } else if (!covered && rest !== undefined) {
        covered = true;
        if (!rest(value[key], childPlace(place, key), undefined)) ok = false;
      }
      if (covered) seen?.keys.add(key);
      if (!ok && (place === undefined || place.report.full)) return false;
    }
    return ok;
  };
}

function missing(place: Place, name: string): false {
  return fail(childPlace(place, name), "required", `missing required field '${printable(name)}'`);
}

function checkDependents(
  value: JsonObject,
  dependents: ReadonlyMap<string, readonly string[]>,
  place: Place | undefined,
): boolean {
  let ok = true;
  for (const [key, names] of dependents) {
    if (!Object.hasOwn(value, key)) continue;
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue;
      const message = `missing field '${printable(name)}', required beside '${printable(key)}'`;
      ok = fail(childPlace(place, name), "required", message);
    }
  }
  return ok;
}

function checkNames(keys: readonly string[], names: Check, place: Place | undefined): boolean {
  let ok = true;
  for (const key of keys) {
    if (place === undefined) {
      if (!names(key, undefined, undefined)) return false;
      continue;
    }
    const report = place.report.branch();
    const child: Place = { report: place.report, parent: place, key };
    if (names(key, placeIn(child, report), undefined)) continue;
    ok = false;
    for (const { rule, message } of report.violations) {
      place.report.add({ field: fieldOf(child), rule, message: `the field's name ${message}` });
    }
  }
  return ok;
}

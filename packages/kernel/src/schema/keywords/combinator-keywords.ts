import type { JsonValue } from "@narthex/contracts";
import { type Check, Evaluated, isObject } from "../check.ts";
import { fail, fieldOf, type Place, placeIn, type Report, typeNameOf } from "../report.ts";
import { listOf } from "./type-keywords.ts";

/** Maximum number of equally close branches to explain. */
const MAX_EXPLAINED = 5;

/** The branches of `anyOf` or `oneOf`. */
export interface Branches {
  readonly checks: readonly Check[];
  /** The types that the branches name, if every branch only names types. */
  readonly types: readonly string[] | undefined;
}

export function checkAnyOf(branches: Branches): Check {
  return (value, place, seen) => {
    if (place !== undefined) return tryBranches(branches, value, place, seen).length > 0;
    if (seen === undefined) {
      for (const check of branches.checks) if (check(value, undefined, undefined)) return true;
      return false;
    }
    let found = false;
    for (const check of branches.checks) {
      const own = new Evaluated();
      if (!check(value, undefined, own)) continue;
      found = true;
      seen.add(own);
    }
    return found;
  };
}

export function checkOneOf(branches: Branches): Check {
  return (value, place, seen) => {
    if (place !== undefined) {
      const passed = tryBranches(branches, value, place, seen);
      if (passed.length < 2) return passed.length === 1;
      const shapes = passed.map((index) => index + 1).join(" and ");
      return fail(place, "exclusive", `matches shapes ${shapes} of ${branches.checks.length}, must match exactly one`);
    }
    let found = 0;
    for (const check of branches.checks) {
      const own = seen === undefined ? undefined : new Evaluated();
      if (!check(value, undefined, own)) continue;
      if (++found > 1) return false;
      if (own !== undefined) seen?.add(own);
    }
    return found === 1;
  };
}

export function checkNot(check: Check): Check {
  return (value, place) =>
    !check(value, undefined, undefined) ||
    (place !== undefined && fail(place, "not_allowed", "has a shape that is not allowed here"));
}

export function checkIf(condition: Check, then: Check | undefined, otherwise: Check | undefined): Check {
  return (value, place, seen) => {
    const own = seen === undefined ? undefined : new Evaluated();
    const holds = condition(value, undefined, own);
    if (holds && own !== undefined) seen?.add(own);
    const next = holds ? then : otherwise;
    return next === undefined || next(value, place, seen);
  };
}

/** `dependentSchemas`: each schema applies to the whole object if the object has the property. */
export function checkDependentSchemas(dependents: ReadonlyMap<string, Check>): Check {
  return (value, place, seen) => {
    if (!isObject(value)) return true;
    let ok = true;
    for (const [key, check] of dependents) {
      if (!Object.hasOwn(value, key) || check(value, place, seen)) continue;
      if (place === undefined) return false;
      ok = false;
    }
    return ok;
  };
}

interface FailedBranch {
  readonly index: number;
  readonly score: number;
  readonly report: Report;
  readonly seen: Evaluated | undefined;
}

/** Finds the branches that hold. If none does, reports that and explains the closest ones. */
function tryBranches(
  branches: Branches,
  value: JsonValue | undefined,
  place: Place,
  seen: Evaluated | undefined,
): readonly number[] {
  const passed: number[] = [];
  const failed: FailedBranch[] = [];
  const field = fieldOf(place);
  for (const [index, check] of branches.checks.entries()) {
    const report = place.report.branch();
    const own = seen && new Evaluated();
    if (check(value, placeIn(place, report), own)) {
      passed.push(index);
      if (own !== undefined) seen?.add(own);
    } else failed.push({ index, score: distance(report, field), report, seen: own });
  }
  if (passed.length > 0) return passed;
  if (branches.types !== undefined) fail(place, "type", `expected ${listOf(branches.types)}, got ${typeNameOf(value)}`);
  else explain(failed, place, seen);
  return passed;
}

function explain(failed: readonly FailedBranch[], place: Place, seen: Evaluated | undefined): void {
  const best = Math.min(...failed.map((branch) => branch.score));
  const closest = failed.filter((branch) => branch.score === best);
  fail(place, "one_of", `matches none of the ${failed.length} allowed shapes`);
  for (const branch of closest.slice(0, MAX_EXPLAINED)) {
    for (const { field, rule, message } of branch.report.violations) {
      place.report.add({ field, rule, message: `for shape ${branch.index + 1}: ${message}` });
    }
    if (branch.seen !== undefined) seen?.add(branch.seen);
  }
}

/**
 * A branch for another type is farthest, then one with another fixed value; after that the number of broken rules
 * counts.
 */
function distance(report: Report, field: string): number {
  let score = report.violations.length;
  for (const { field: at, rule } of report.violations) {
    if (rule === "type" && at === field) score += 1_000_000;
    else if (rule === "one_of") score += 1_000;
  }
  return score;
}

import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { Place } from "./report.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/**
 * Whether a value satisfies one schema or keyword.
 *
 * One function serves both uses, so that they cannot disagree: without a place it stops at the first broken rule and
 * allocates nothing; with a place it reports every broken rule.
 */
export type Check = (value: JsonValue | undefined, place: Place | undefined, seen: Evaluated | undefined) => boolean;

/** The parts of one value that keywords have evaluated. `unevaluated...` skips them. */
export class Evaluated {
  readonly keys = new Set<string>();
  readonly indexes = new Set<number>();

  add(other: Evaluated): void {
    for (const key of other.keys) this.keys.add(key);
    for (const index of other.indexes) this.indexes.add(index);
  }
}

/** Thrown to abort a check that would cost too much. */
export class TooComplex extends Error {}

/** Counts the steps of one check. Checks never overlap, so each schema has a single meter. */
export class Meter {
  #left = 0;
  #depth = 0;

  start(): void {
    this.#left = SCHEMA_LIMITS.steps;
    this.#depth = 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooComplex();
  }

  enter(): void {
    if (++this.#depth > SCHEMA_LIMITS.recursion) throw new TooComplex();
  }

  leave(): void {
    this.#depth--;
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Runs all checks; without a place, stops at the first that fails. */
export function allOf(checks: readonly Check[]): Check {
  const [first, second] = checks;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  return (value, place, seen) => {
    let ok = true;
    for (const check of checks) {
      if (check(value, place, seen)) continue;
      if (place === undefined) return false;
      ok = false;
    }
    return ok;
  };
}

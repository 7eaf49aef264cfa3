import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { Place } from "./report.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/**
 * Whether a value satisfies one schema or keyword.
 *
 * One function serves both uses: without a place it answers at the first broken rule and makes no objects; with one it
 * reports every broken rule there. So the two can never disagree.
 */
export type Check = (value: JsonValue | undefined, place: Place | undefined, seen: Evaluated | undefined) => boolean;

/** The parts of one value that some keyword has looked at: what `unevaluated...` leaves alone. */
export class Evaluated {
  readonly keys = new Set<string>();
  readonly indexes = new Set<number>();

  add(other: Evaluated): void {
    for (const key of other.keys) this.keys.add(key);
    for (const index of other.indexes) this.indexes.add(index);
  }
}

/** Ends a check that would cost too much. */
export class TooComplex extends Error {}

/** Counts the steps of one check. One check runs at a time, so a schema has one meter. */
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

/** Runs every check; without a place, only up to the first that fails. */
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

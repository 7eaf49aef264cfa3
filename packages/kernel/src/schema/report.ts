import type { JsonValue, Violation } from "@narthex/contracts";
import type { Meter } from "./check.ts";
import { printable } from "./printable.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/**
 * The position of a check in a value, and the report for its violations. Created only when violations are collected.
 */
export interface Place {
  readonly report: Report;
  readonly parent: Place | undefined;
  /** The key or index of this place in its parent; undefined for the root. */
  readonly key: string | number | undefined;
}

/** The number of steps charged for recording a violation, or for trying a branch that may produce some. */
const VIOLATION_COST = 50;

/**
 * Collects broken rules, up to a limit.
 *
 * SECURITY: explaining costs far more than checking, and the value determines how much there is to explain, so both are
 * charged to the same meter.
 */
export class Report {
  readonly violations: Violation[] = [];
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  get full(): boolean {
    return this.violations.length >= SCHEMA_LIMITS.violations;
  }

  add(violation: Violation): void {
    this.#meter.spend(VIOLATION_COST);
    if (!this.full) this.violations.push(violation);
  }

  /** Creates a report for a part of the same check whose violations may be discarded. */
  branch(): Report {
    this.#meter.spend(VIOLATION_COST);
    return new Report(this.#meter);
  }
}

export function rootPlace(report: Report): Place {
  return { report, parent: undefined, key: undefined };
}

/** The place of a child. Undefined stays undefined, so that a check without a report allocates nothing. */
export function childPlace(place: Place | undefined, key: string | number): Place | undefined {
  return place === undefined ? undefined : { report: place.report, parent: place, key };
}

/** The same place, with another report. */
export function placeIn(place: Place, report: Report): Place {
  return { report, parent: place.parent, key: place.key };
}

/** Reports a broken rule. Returns false, so that a check can end with it. */
export function fail(place: Place | undefined, rule: string, message: string): false {
  if (place !== undefined && !place.report.full) place.report.add({ field: fieldOf(place), rule, message });
  return false;
}

const PLAIN_KEY = /^[A-Za-z_$][\w$-]{0,79}$/;

/** Formats a place as `a.b[2]`; `$` is the whole value, `$[2]` an item of it. */
export function fieldOf(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) keys.push(at.key);
  return fieldAt(keys.reverse());
}

/** Formats a path of keys and indexes, from the root down, in the same way. */
export function fieldAt(keys: readonly (string | number)[]): string {
  const [first] = keys;
  if (first === undefined) return "$";
  let field = typeof first === "string" && PLAIN_KEY.test(first) ? "" : "$";
  for (const key of keys) {
    if (typeof key === "number") field += `[${key}]`;
    else if (!PLAIN_KEY.test(key)) field += `["${printable(key)}"]`;
    else field += field === "" ? key : `.${key}`;
  }
  return field;
}

/** The name of a value's type in messages. */
export function typeNameOf(value: JsonValue | undefined): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "undefined" ? "nothing" : typeof value;
}

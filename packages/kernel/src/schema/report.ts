import type { JsonValue, Violation } from "@narthex/contracts";
import type { Meter } from "./check.ts";
import { printable } from "./printable.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

/** Where in a value a check is, and what collects what it finds. Made only while violations are collected. */
export interface Place {
  readonly report: Report;
  readonly parent: Place | undefined;
  /** The key or index under which the parent holds this place; undefined for the root. */
  readonly key: string | number | undefined;
}

/** Steps that writing down a violation, or trying a branch that may hold some, is worth. */
const VIOLATION_COST = 50;

/**
 * Collects broken rules, up to a limit.
 *
 * SECURITY: explaining costs far more than checking, and how much of it there is to do is the value's choice, so it
 * is paid for from the same meter.
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

  /** For a part of the same check whose violations may not count. */
  branch(): Report {
    this.#meter.spend(VIOLATION_COST);
    return new Report(this.#meter);
  }
}

export function rootPlace(report: Report): Place {
  return { report, parent: undefined, key: undefined };
}

/** The place of a child; undefined stays undefined, so that a plain check makes no objects. */
export function childPlace(place: Place | undefined, key: string | number): Place | undefined {
  return place === undefined ? undefined : { report: place.report, parent: place, key };
}

/** The same place, reported elsewhere. */
export function placeIn(place: Place, report: Report): Place {
  return { report, parent: place.parent, key: place.key };
}

/** Reports a broken rule. Always false, so that a check can end with it. */
export function fail(place: Place | undefined, rule: string, message: string): false {
  if (place !== undefined && !place.report.full) place.report.add({ field: fieldOf(place), rule, message });
  return false;
}

const PLAIN_KEY = /^[A-Za-z_$][\w$-]{0,79}$/;

/** `a.b[2]`; `$` for the whole value, `$[2]` for an item of it. */
export function fieldOf(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) keys.push(at.key);
  return fieldAt(keys.reverse());
}

/** The same of a path of keys and indexes, from the root down. */
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

/** A value's type as messages name it. */
export function typeNameOf(value: JsonValue | undefined): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "undefined" ? "nothing" : typeof value;
}

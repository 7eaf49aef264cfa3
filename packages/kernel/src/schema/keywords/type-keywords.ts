import type { JsonArray, JsonValue } from "@narthex/contracts";
import { type Check, isObject, type Meter } from "../check.ts";
import { equalJson } from "../equal-json.ts";
import type { JsonType } from "../keyword-shapes.ts";
import { printable } from "../printable.ts";
import { fail, typeNameOf } from "../report.ts";

const MAX_LISTED = 200;

/** `type` with one name or several. */
export function checkType(type: JsonValue): Check {
  const names = (Array.isArray(type) ? type : [type]).map(String);
  const expected = `expected ${listOf(names)}`;
  const tests = names.map((name) => TYPE_TESTS.get(name) ?? (() => false));
  const [only, second] = tests;
  if (only !== undefined && second === undefined) {
    return (value, place) =>
      only(value) || (place !== undefined && fail(place, "type", `${expected}, got ${typeNameOf(value)}`));
  }
  return (value, place) => {
    for (const test of tests) if (test(value)) return true;
    return place !== undefined && fail(place, "type", `${expected}, got ${typeNameOf(value)}`);
  };
}

/** `enum` and `const`. */
export function checkValues(allowed: JsonArray, meter: Meter): Check {
  const primitives = new Set<JsonValue>(allowed.filter((value) => typeof value !== "object" || value === null));
  const composites = allowed.filter((value) => typeof value === "object" && value !== null);
  const message = `expected ${allowed.length === 1 ? "" : "one of "}${cut(allowed.map((value) => JSON.stringify(value)))}`;
  return (value, place) => {
    if (typeof value !== "object" || value === null) {
      // A Set treats 0 and -0 as equal, as JSON does.
      if (value !== undefined && primitives.has(value)) return true;
    } else {
      meter.spend(composites.length);
      if (composites.some((composite) => equalJson(composite, value))) return true;
    }
    return place !== undefined && fail(place, "one_of", message);
  };
}

/** Formats a list as `a, b or c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Joins as many of the texts as fit into a message. */
export function cut(texts: readonly string[]): string {
  let length = 0;
  const shown = texts.filter((text) => {
    length += text.length + 2;
    return length <= MAX_LISTED;
  });
  const more = texts.length - shown.length;
  if (shown.length === 0) return `${texts.length} allowed values`;
  return printable(shown.join(", "), MAX_LISTED) + (more > 0 ? ` and ${more} more` : "");
}

const TYPE_TESTS: ReadonlyMap<string, (value: JsonValue | undefined) => boolean> = new Map<
  JsonType,
  (value: JsonValue | undefined) => boolean
>([
  ["null", (value) => value === null],
  ["boolean", (value) => typeof value === "boolean"],
  ["integer", (value) => Number.isInteger(value)],
  ["number", (value) => typeof value === "number" && Number.isFinite(value)],
  ["string", (value) => typeof value === "string"],
  ["array", (value) => Array.isArray(value)],
  ["object", isObject],
]);

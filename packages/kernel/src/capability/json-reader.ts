import {
  type Code,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  KernelError,
  type Rule,
  type Violation,
} from "@narthex/contracts";
import { nearestName } from "./nearest-name.ts";
import { quoteText, showText } from "./quote-text.ts";

/** Reads untrusted JSON and collects all violations, so that a user can correct them in one pass. */
export interface JsonReader {
  readonly violations: readonly Violation[];
  /** Adds a violation. Returns undefined, so that a reading function can return its result. */
  refuse(field: string, rule: Rule, message: string): undefined;
  /** Reads an object with no other keys than these. */
  object(json: JsonValue | undefined, field: string, keys: readonly string[]): JsonObject | undefined;
  /** Reads a list; undefined if any item was refused. */
  list<T>(
    json: JsonValue | undefined,
    field: string,
    limit: number,
    item: (json: JsonValue, field: string) => T | undefined,
  ): T[] | undefined;
  wholeNumber(json: JsonValue | undefined, field: string, range: NumberRange): number | undefined;
  choice<T extends string>(json: JsonValue | undefined, field: string, choices: readonly T[]): T | undefined;
  /** Reads text of 1 to `limit` characters without control characters. */
  name(json: JsonValue | undefined, field: string, limit: number): string | undefined;
  /** Returns the value if nothing was refused; otherwise throws with all violations. */
  finish<T>(value: T | undefined, code: Code, what: string): T;
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/** Maximum number of collected violations: a user corrects no document with more. */
const MAX_VIOLATIONS = 100;

/** Control characters and unpaired surrogates. */
const UNFIT_FOR_NAMES = /[\p{Cc}\p{Cs}]/u;

export function createJsonReader(): JsonReader {
  const violations: Violation[] = [];

  const reader: JsonReader = {
    violations,
    refuse(field, rule, message) {
      if (violations.length < MAX_VIOLATIONS) violations.push({ field, rule, message });
      return undefined;
    },
    object(json, field, keys) {
      if (json === undefined) return reader.refuse(field, "required", "must be given");
      if (!isJsonObject(json)) return reader.refuse(field, "format", `must be an object, not ${describeJson(json)}`);
      for (const key of Object.keys(json)) {
        if (!keys.includes(key)) reader.refuse(joinField(field, showText(key)), "unknown_field", unknownKey(key, keys));
      }
      return json;
    },
    list(json, field, limit, item) {
      if (json === undefined) return reader.refuse(field, "required", "must be given");
      if (!Array.isArray(json)) return reader.refuse(field, "format", `must be a list, not ${describeJson(json)}`);
      if (json.length > limit) {
        return reader.refuse(field, "max_items", `has ${json.length} entries, at most ${limit} are allowed`);
      }
      const items = json.map((value, index) => item(value, `${field}[${index}]`));
      const kept = items.filter((value) => value !== undefined);
      return kept.length === items.length ? kept : undefined;
    },
    wholeNumber(json, field, { min, max }) {
      if (json === undefined) return reader.refuse(field, "required", "must be given");
      if (typeof json !== "number")
        return reader.refuse(field, "format", `must be a number, not ${describeJson(json)}`);
      if (!Number.isSafeInteger(json) || json < min || json > max) {
        return reader.refuse(field, "range", `must be a whole number from ${min} to ${max}, not ${json}`);
      }
      // Turns minus zero into zero.
      return json + 0;
    },
    choice(json, field, choices) {
      if (json === undefined) return reader.refuse(field, "required", `must be one of ${choices.join(", ")}`);
      const chosen = choices.find((choice) => choice === json);
      if (chosen !== undefined) return chosen;
      const given = typeof json === "string" ? quoteText(json) : describeJson(json);
      return reader.refuse(field, "one_of", `must be one of ${choices.join(", ")}, not ${given}`);
    },
    name(json, field, limit) {
      if (json === undefined || json === "") return reader.refuse(field, "required", "must not be empty");
      if (typeof json !== "string") return reader.refuse(field, "format", `must be text, not ${describeJson(json)}`);
      if (json.length > limit && countCharacters(json) > limit) {
        return reader.refuse(field, "max_length", `must have at most ${limit} characters`);
      }
      if (json.includes("\0")) return reader.refuse(field, "no_nul", "must not contain a NUL");
      if (UNFIT_FOR_NAMES.test(json)) {
        return reader.refuse(field, "format", "must not contain control characters or broken surrogate pairs");
      }
      return json;
    },
    finish(value, code, what) {
      const first = violations[0];
      if (first === undefined && value !== undefined) return value;
      const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
      const where = first === undefined || first.field === "" ? "it" : quoteText(first.field);
      const reason = `${where} ${first?.message ?? "cannot be read"}${more}`;
      throw new KernelError(code, `${what} is not valid: ${reason}`, { violations });
    },
  };
  return reader;
}

/** Returns an own property, so that inherited ones are never taken for input. */
export function ownField(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function joinField(parent: string, key: string): string {
  return parent === "" ? key : `${parent}.${key}`;
}

/** Counts Unicode code points. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns the message about an unknown key, with the known key it most likely means. */
export function unknownKey(key: string, keys: readonly string[]): string {
  const nearest = nearestName(key, keys);
  return nearest === undefined
    ? `is not known; known are ${keys.join(", ")}`
    : `is not known; did you mean ${nearest}?`;
}

function describeJson(json: JsonValue): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "a list";
  if (typeof json === "object") return "an object";
  return typeof json === "string" ? "text" : `a ${typeof json}`;
}

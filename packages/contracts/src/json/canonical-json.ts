import { utf8 } from "../digest/bytes.ts";
import { MAX_JSON_DEPTH } from "../limits.ts";
import { joinPointer } from "./json-pointer.ts";
import { JsonValueError } from "./json-value-error.ts";

/** Up to this length checking each character is faster than calling JSON.stringify. */
const SHORT_TEXT = 48;

/**
 * The canonical text of a JSON value according to RFC 8785: no white space, keys in order of their UTF-16 code units,
 * numbers and strings as ECMAScript writes them.
 *
 * Accepts plain data only. Values that JSON.stringify would drop or convert (undefined, functions, dates, `toJSON`,
 * non-finite numbers) throw a JsonValueError, as do lone surrogates and nesting deeper than MAX_JSON_DEPTH.
 */
export function canonicalJson(value: unknown): string {
  try {
    return write(value, 0);
  } catch (error) {
    if (error instanceof Unwritable) throw new JsonValueError(error.rule, pointerTo(error.steps), error.message);
    if (error instanceof RangeError) throw new JsonValueError("max_length", "", "the value's JSON form is too long");
    throw error;
  }
}

export function canonicalJsonBytes(value: unknown): Uint8Array {
  return utf8(canonicalJson(value));
}

class Unwritable extends Error {
  readonly rule: "format" | "range" | "malformed";
  /** From the innermost outwards. */
  readonly steps: (string | number)[] = [];

  constructor(rule: "format" | "range" | "malformed", message: string) {
    super(message);
    this.rule = rule;
  }
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return writeText(value);
    case "number":
      if (!Number.isFinite(value)) throw new Unwritable("range", "a number must be finite");
      // Negative zero is written as zero.
      return value === 0 ? "0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth >= MAX_JSON_DEPTH) throw new Unwritable("range", `nesting is limited to ${MAX_JSON_DEPTH} levels`);
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      throw new Unwritable("malformed", `${typeof value} has no JSON form`);
  }
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  let index = 0;
  try {
    for (; index < items.length; index++) {
      if (index > 0) text += ",";
      text += write(items[index], depth);
    }
  } catch (error) {
    if (error instanceof Unwritable) error.steps.push(index);
    throw error;
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Unwritable("malformed", "only plain objects have a JSON form");
  }
  const entries = value as { readonly [key: string]: unknown };
  const keys = sortedKeys(entries);
  let text = "{";
  let index = 0;
  try {
    for (; index < keys.length; index++) {
      const key = keys[index] ?? "";
      if (index > 0) text += ",";
      text += `${writeText(key)}:${write(entries[key], depth)}`;
    }
  } catch (error) {
    if (error instanceof Unwritable) error.steps.push(keys[index] ?? "");
    throw error;
  }
  return `${text}}`;
}

function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) {
    // Most objects are in order already, and checking is cheaper than sorting.
    if ((keys[i - 1] ?? "") > (keys[i] ?? "")) return keys.sort();
  }
  return keys;
}

function writeText(text: string): string {
  if (text.length <= SHORT_TEXT && isPlain(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new Unwritable("format", "a text holds half a surrogate pair");
  return JSON.stringify(text);
}

function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff)) return false;
  }
  return true;
}

function pointerTo(steps: readonly (string | number)[]): string {
  return steps.reduceRight((path: string, step) => joinPointer(path, step), "");
}

import { MAX_JSON_DEPTH, MAX_JSON_ITEMS } from "../limits.ts";
import type { Rule } from "../rule.ts";
import { explainJson } from "./explain-json.ts";
import { JsonSyntaxError } from "./json-syntax-error.ts";
import { isJsonObject, type JsonValue } from "./json-value.ts";
import { type JsonBounds, scanJson } from "./scan-json.ts";

const DEFAULT_BOUNDS: JsonBounds = { maxDepth: MAX_JSON_DEPTH, maxItems: MAX_JSON_ITEMS };
/**
 * Maximum length of a text in which the exact position of a problem is searched; longer ones would block for too long.
 */
const MAX_EXPLAINED = 4 * 1024 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses JSON (RFC 8259) so that every reader sees the same value: no duplicate keys, no integer that a double cannot
 * hold, no overflowing number, no lone surrogate, UTF-8 without a byte order mark, nothing after the value. Anything
 * else throws a JsonSyntaxError. `-0` is read as 0, and `__proto__` is a key like any other.
 *
 * SECURITY: texts come from agents. One linear scan bounds depth and size before anything is built; JSON.parse builds
 * the value, so it does not keep the source text alive. Tests: parse-json.test.ts.
 */
export function parseJson(source: string | Uint8Array, limits: Partial<JsonBounds> = DEFAULT_BOUNDS): JsonValue {
  const bounds = limits === DEFAULT_BOUNDS ? DEFAULT_BOUNDS : { ...DEFAULT_BOUNDS, ...limits };
  const text = typeof source === "string" ? source : decodeText(source);
  const scan = scanJson(text, bounds);
  if (typeof scan === "string") throw refusal(scan, text, bounds);
  const value = build(text);
  if (value === undefined) throw refusal("malformed", text, bounds);
  // For duplicate keys JSON.parse keeps the last one, so the value has fewer keys than the text.
  if (countKeys(value) !== scan.keys) throw refusal("duplicate", text, bounds);
  if (!text.isWellFormed() || (scan.hasSurrogateEscape && !isWellFormed(value))) throw refusal("format", text, bounds);
  return scan.hasNegativeZero ? withoutNegativeZero(value) : value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonSyntaxError("malformed", "", "the bytes are not UTF-8, or too many");
  }
}

function build(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function refusal(rule: Rule, text: string, bounds: JsonBounds): JsonSyntaxError {
  if (text.length <= MAX_EXPLAINED) return explainJson(text, bounds);
  return new JsonSyntaxError(rule, "", `a JSON text of ${text.length} characters breaks the rule \`${rule}\``);
}

function countKeys(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countKeys(item);
  } else if (isJsonObject(value)) {
    const keys = Object.keys(value);
    count = keys.length;
    for (const key of keys) {
      const item = value[key];
      if (typeof item === "object") count += countKeys(item);
    }
  }
  return count;
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
}

function withoutNegativeZero(value: JsonValue): JsonValue {
  if (value === 0) return 0;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = withoutNegativeZero(item);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) value[key] = withoutNegativeZero(value[key] ?? null);
  }
  return value;
}

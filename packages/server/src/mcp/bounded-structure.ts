import type { JsonObject, JsonValue } from "@narthex/contracts";

/** Shorter strings are never cut: names, hashes and states that programs read. */
const MIN_CUT_BYTES = 256;

/**
 * Reduces a structure to at most `maxBytes` of JSON: cuts long strings, each with a note of its original size, and then
 * the ends of long lists. Sets an object's own boolean `cut`. Undefined if that is not enough.
 */
export function boundStructure(value: JsonObject, maxBytes: number): JsonObject | undefined {
  if (sizeOf(value) <= maxBytes) return value;
  const most = { textBytes: maxBytes, items: Number.POSITIVE_INFINITY };
  const textBytes = largest(MIN_CUT_BYTES, maxBytes, (bytes) => fits(value, { ...most, textBytes: bytes }, maxBytes));
  if (textBytes !== undefined) return shorten(value, { ...most, textBytes });
  const shortest = { textBytes: MIN_CUT_BYTES, items: maxBytes };
  const items = largest(0, maxBytes, (count) => fits(value, { ...shortest, items: count }, maxBytes));
  return items === undefined ? undefined : shorten(value, { ...shortest, items });
}

interface Bounds {
  readonly textBytes: number;
  readonly items: number;
}

function fits(value: JsonObject, bounds: Bounds, maxBytes: number): boolean {
  return sizeOf(shorten(value, bounds)) <= maxBytes;
}

function sizeOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns the largest number in a range for which a monotonic predicate holds. */
function largest(least: number, most: number, holds: (count: number) => boolean): number | undefined {
  if (!holds(least)) return undefined;
  let [low, high] = [least, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function shorten(value: JsonObject, bounds: Bounds): JsonObject {
  const short: JsonObject = {};
  let isCut = false;
  for (const [key, child] of Object.entries(value)) {
    const kept = shortenValue(child, bounds);
    if (typeof child === "string" && kept !== child) isCut = true;
    Object.defineProperty(short, key, { value: kept, enumerable: true, writable: true, configurable: true });
  }
  if (isCut && typeof short["cut"] === "boolean") short["cut"] = true;
  return short;
}

function shortenValue(value: JsonValue, bounds: Bounds): JsonValue {
  if (typeof value === "string") return shortenText(value, bounds.textBytes);
  if (Array.isArray(value)) return value.slice(0, bounds.items).map((item) => shortenValue(item, bounds));
  return typeof value === "object" && value !== null ? shorten(value, bounds) : value;
}

/** Cuts at a character boundary, and ends with the same line as a cut view. */
function shortenText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const note = `\n[output truncated — original size: ${bytes.length.toLocaleString("en-US")} bytes]`;
  let end = Math.max(0, maxBytes - Buffer.byteLength(note));
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + note;
}

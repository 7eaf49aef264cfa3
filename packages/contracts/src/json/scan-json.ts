import { checkNumber } from "./check-number.ts";

export interface JsonBounds {
  readonly maxDepth: number;
  readonly maxItems: number;
}

interface JsonScan {
  /** Number of keys in the text, including duplicates. */
  readonly keys: number;
  readonly hasNegativeZero: boolean;
  /** Whether an escape denotes a surrogate, alone or in a pair. */
  readonly hasSurrogateEscape: boolean;
}

/** Strings longer than this are searched with `indexOf` instead of character by character. */
const WALKED = 24;

/**
 * Scans a text that may or may not be JSON in one linear pass. Returns the broken rule if the text exceeds a bound or
 * contains a number that must be rejected.
 *
 * INVARIANT: for every text that JSON.parse accepts, strings, keys, numbers and brackets are found exactly; for any
 * other text the result does not matter, because JSON.parse rejects it.
 */
export function scanJson(text: string, bounds: JsonBounds): JsonScan | "range" | "max_items" {
  const length = text.length;
  let keys = 0;
  let items = 1;
  let depth = 0;
  let hasNegativeZero = false;
  let hasSurrogateEscape = false;
  let nextQuote = -1;
  let nextBackslash = -1;
  let i = 0;
  while (i < length) {
    const unit = text.charCodeAt(i);
    if (unit === 0x22 /* " */) {
      i++;
      const walkedTo = Math.min(i + WALKED, length);
      for (;;) {
        if (i < walkedTo) {
          const inside = text.charCodeAt(i);
          if (inside === 0x22) break;
          if (inside !== 0x5c /* \ */) {
            i++;
            continue;
          }
        } else {
          // Keeps both positions, so that a string full of escapes is still searched only once.
          if (nextQuote < i) nextQuote = find(text, '"', i);
          if (nextBackslash < i) nextBackslash = find(text, "\\", i);
          if (nextQuote < nextBackslash || nextBackslash === length) {
            i = nextQuote;
            break;
          }
          i = nextBackslash;
        }
        hasSurrogateEscape ||= isSurrogateEscape(text, i);
        i += 2;
      }
      i++;
    } else if (unit === 0x3a /* : */) {
      keys++;
      i++;
    } else if (unit === 0x2c /* , */) {
      if (++items > bounds.maxItems) return "max_items";
      i++;
    } else if (unit === 0x7b /* { */ || unit === 0x5b /* [ */) {
      if (++depth > bounds.maxDepth) return "range";
      if (++items > bounds.maxItems) return "max_items";
      i++;
    } else if (unit === 0x7d /* } */ || unit === 0x5d /* ] */) {
      depth--;
      i++;
    } else if (unit === 0x2d /* - */ || (unit >= 0x30 && unit <= 0x39)) {
      const start = i;
      i = endOfNumber(text, i + 1);
      const verdict = checkNumber(text, start, i);
      if (verdict === "negative_zero") hasNegativeZero = true;
      else if (verdict !== "exact") return "range";
    } else {
      i++;
    }
  }
  return { keys, hasNegativeZero, hasSurrogateEscape };
}

function find(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}

/** Whether the backslash at `at` starts an escape from `\uD8..` to `\uDF..`. */
function isSurrogateEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at + 1) !== 0x75) return false;
  const first = text.charCodeAt(at + 2) | 0x20;
  const second = text.charCodeAt(at + 3);
  return first === 0x64 && (second === 0x38 || second === 0x39 || second > 0x40);
}

function endOfNumber(text: string, from: number): number {
  let end = from;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    const inNumber =
      (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2d || unit === 0x2b || (unit | 0x20) === 0x65;
    if (!inNumber) break;
  }
  return end;
}

import { exactNumber } from "./exact-number.ts";

type NumberVerdict = "exact" | "negative_zero" | "overflow" | "inexact_integer";

/** A number this short is never an integer beyond 2^53 and, without an exponent, never overflows. */
const ALWAYS_EXACT = 15;
/** The longest integer a double can hold has 309 digits and a sign. */
const MAX_INTEGER_CHARACTERS = 310;

/** Checks whether a double can represent the number between `start` and `end`. */
export function checkNumber(text: string, start: number, end: number): NumberVerdict {
  const isNegative = text.charCodeAt(start) === 0x2d;
  const startsWithZero = text.charCodeAt(isNegative ? start + 1 : start) === 0x30;
  let isInteger = true;
  let hasExponent = false;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i) | 0x20;
    if (unit === 0x65 /* e */) hasExponent = true;
    else if (unit === 0x2e /* . */) isInteger = false;
  }
  if (!hasExponent && end - start <= ALWAYS_EXACT && !(isNegative && startsWithZero)) return "exact";
  const token = text.slice(start, end);
  const value = Number(token);
  if (value === Infinity || value === -Infinity) return "overflow";
  if (value === 0) return isNegative ? "negative_zero" : "exact";
  if (!isInteger || hasExponent || Number.isSafeInteger(value) || Number.isNaN(value)) return "exact";
  const survives = token.length <= MAX_INTEGER_CHARACTERS && exactNumber(BigInt(token)) !== undefined;
  return survives ? "exact" : "inexact_integer";
}

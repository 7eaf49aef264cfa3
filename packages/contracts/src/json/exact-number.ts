/**
 * The double that stands for an integer, or undefined if the integer does not survive it: the double must be
 * written with the same digits again. Everything canonicalJson writes survives by that rule, and whoever prints
 * the number prints what was sent.
 */
export function exactNumber(integer: bigint): number | undefined {
  const value = Number(integer);
  if (Number.isSafeInteger(value)) return value;
  return Number.isFinite(value) && writtenInteger(value) === integer ? value : undefined;
}

/** The integer that ECMAScript's text of a large double stands for. */
function writtenInteger(value: number): bigint {
  const [mantissa = "", exponent] = String(value).split("e+");
  if (exponent === undefined) return BigInt(mantissa);
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length);
}

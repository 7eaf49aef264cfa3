/**
 * The double for an integer; undefined if the double is not written with the same digits again. All output of
 * canonicalJson satisfies this, and printing the double shows the number that was sent.
 */
export function exactNumber(integer: bigint): number | undefined {
  const value = Number(integer);
  if (Number.isSafeInteger(value)) return value;
  return Number.isFinite(value) && writtenInteger(value) === integer ? value : undefined;
}

/** The integer denoted by ECMAScript's text of a large double. */
function writtenInteger(value: number): bigint {
  const [mantissa = "", exponent] = String(value).split("e+");
  if (exponent === undefined) return BigInt(mantissa);
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length);
}

/** Whether a number is a whole multiple of another, as the decimal numbers they were written as: 0.3 is of 0.1. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [valueDigits, valueExponent] = decimalOf(value);
  const [divisorDigits, divisorExponent] = decimalOf(divisor);
  const shift = valueExponent - divisorExponent;
  return shift >= 0
    ? (valueDigits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : valueDigits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

/** The shortest digits that name this double, and the power of ten they stand for. */
function decimalOf(value: number): [bigint, number] {
  const [digits = "0", exponent = "0"] = value.toExponential().split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

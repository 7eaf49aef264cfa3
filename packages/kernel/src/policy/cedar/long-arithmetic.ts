import type { CedarLong, CedarValue } from "./cedar-value.ts";
import { EvaluationError, typeError } from "./evaluation-error.ts";

const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

export function isLong(value: CedarValue): value is CedarLong {
  return typeof value === "number" || typeof value === "bigint";
}

export function expectLong(value: CedarValue): CedarLong {
  if (isLong(value)) return value;
  throw typeError("long", value);
}

export function add(left: CedarLong, right: CedarLong): CedarLong {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return narrow(BigInt(left) + BigInt(right), "add");
}

export function subtract(left: CedarLong, right: CedarLong): CedarLong {
  if (typeof left === "number" && typeof right === "number") {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return narrow(BigInt(left) - BigInt(right), "subtract");
}

export function multiply(left: CedarLong, right: CedarLong): CedarLong {
  if (typeof left === "number" && typeof right === "number") {
    const product = left * right;
    // A safe result is exact: a product beyond 2^53 is never rounded to a safe integer.
    if (Number.isSafeInteger(product)) return product;
  }
  return narrow(BigInt(left) * BigInt(right), "multiply");
}

export function negate(value: CedarLong): CedarLong {
  return subtract(0, value);
}

function narrow(value: bigint, verb: string): CedarLong {
  if (value < MIN_LONG || value > MAX_LONG)
    throw new EvaluationError(`integer overflow: the result to ${verb} has no 64 bits`);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

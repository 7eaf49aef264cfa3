import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { CedarLong } from "./cedar-value.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { add, multiply, negate, subtract } from "./long-arithmetic.ts";

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const edges = [
  0n,
  1n,
  -1n,
  2n ** 53n,
  2n ** 53n - 1n,
  -(2n ** 53n),
  2n ** 31n,
  2n ** 32n,
  LEAST,
  LEAST + 1n,
  MOST,
  MOST - 1n,
];
const whole = fc.oneof(
  fc.constantFrom(...edges),
  fc.bigInt({ min: LEAST, max: MOST }),
  fc.bigInt({ min: -9n, max: 9n }),
);

/** A number where it is safe, as everywhere. */
const longOf = (value: bigint): CedarLong => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

test("sums, differences, products and negatives are exact within 64 bits, and errors beyond", () => {
  const operations = [
    [add, (left: bigint, right: bigint) => left + right],
    [subtract, (left: bigint, right: bigint) => left - right],
    [multiply, (left: bigint, right: bigint) => left * right],
    [(left: CedarLong) => negate(left), (left: bigint) => -left],
  ] as const;
  fc.assert(
    fc.property(whole, whole, (left, right) => {
      for (const [compute, model] of operations) {
        const expected = model(left, right);
        const run = (): CedarLong => compute(longOf(left), longOf(right));
        if (expected < LEAST || expected > MOST) assert.throws(run, EvaluationError);
        // `-0` is equal to `0` by `===`, the way longs are compared.
        else assert.ok(run() === longOf(expected), `${left}, ${right}: not ${expected}`);
      }
    }),
    { numRuns: 1000 },
  );
});

import assert from "node:assert/strict";
import { it } from "node:test";
import { isMultipleOf } from "./multiple-of.ts";

it("compares numbers by their decimal notation", () => {
  const multiples: [number, number][] = [
    [0.3, 0.1],
    [4.02, 0.01],
    [0.0075, 0.0001],
    [1e308, 0.5],
    [0, 7],
    [-6, 3],
    [1e21, 1e20],
    [2.5e-7, 5e-8],
  ];
  const others: [number, number][] = [
    [0.25, 0.1],
    [7, 2],
    [1e308, 0.123456789],
    [0.00751, 0.0001],
    [1, 1e10],
  ];
  for (const [value, divisor] of multiples) assert.equal(isMultipleOf(value, divisor), true, `${value} of ${divisor}`);
  for (const [value, divisor] of others) assert.equal(isMultipleOf(value, divisor), false, `${value} of ${divisor}`);
});

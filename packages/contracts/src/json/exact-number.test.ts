import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { exactNumber } from "./exact-number.ts";

test("integers whose digits a double changes have no number", () => {
  const integers = [
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    2n ** 64n - 1n,
    2n ** 64n,
    12345678901234567890n,
    10n ** 23n + 1n,
    10n ** 400n,
  ];
  for (const integer of integers) assert.equal(exactNumber(integer), undefined, String(integer));
});

test("integers whose digits stay have one", () => {
  for (const integer of [
    0n,
    -1n,
    2n ** 53n - 1n,
    2n ** 53n,
    -(2n ** 53n),
    140498138219563540n,
    10n ** 22n,
    -(10n ** 23n),
    125n * 10n ** 300n,
  ]) {
    const value = exactNumber(integer);
    assert.equal(value, Number(integer));
  }
});

test("a number is given exactly where printing it shows the integer", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 21n) + 1n, max: 10n ** 21n - 1n }), (integer) => {
      assert.equal(exactNumber(integer) !== undefined, String(Number(integer)) === String(integer));
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type CedarValue, EntityValue } from "./cedar-value.ts";
import { contains, containsAll, containsAny, equalValues } from "./equal-values.ts";

const scalar = fc.oneof(
  fc.boolean(),
  fc.integer({ min: -2, max: 2 }),
  fc.constantFrom("", "1", "true", "s1", "a", "[]", "{}", 'User::"a"', 2n ** 60n, 2n ** 60n + 1n),
);
const { any } = fc.letrec<{ any: CedarValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.constantFrom("a", "b").map((id) => new EntityValue("User", id)),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("any"), { maxKeys: 2 }),
  ),
}));

/** Straight from the definition, with no thought of time. */
function model(left: CedarValue, right: CedarValue): boolean {
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  if (left instanceof EntityValue || right instanceof EntityValue) {
    return left instanceof EntityValue && right instanceof EntityValue && left.id === right.id;
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right)) return false;
    const [first, second] = [left as CedarValue[], right as CedarValue[]];
    const within = (some: CedarValue[], all: CedarValue[]): boolean => some.every((a) => all.some((b) => model(a, b)));
    return within(first, second) && within(second, first);
  }
  const [first, second] = [new Map(Object.entries(left)), new Map(Object.entries(right))];
  if (first.size !== second.size) return false;
  return [...first].every(([name, value]) => {
    const other = second.get(name);
    return other !== undefined && model(value, other);
  });
}

test("values are equal exactly as the definition says", () => {
  const altered = any.chain((value) =>
    fc.tuple(fc.constant(value), fc.oneof(any, fc.constant(value), fc.constant(shuffled(value)))),
  );
  fc.assert(
    fc.property(altered, ([left, right]) => {
      assert.equal(equalValues(left, right), model(left, right));
      assert.equal(equalValues(right, left), model(left, right));
    }),
    { numRuns: 3000 },
  );
});

test("membership in a set does not depend on its size", () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 6 }), fc.array(any, { maxLength: 6 }), (outer, inner) => {
      const has = (one: CedarValue): boolean => outer.some((other) => model(one, other));
      const many = [...outer, ...Array.from({ length: 100 }, (_, number) => `filler ${number}`)];
      for (const set of [outer, many]) {
        assert.deepEqual(
          inner.map((one) => contains(set, one)),
          inner.map(has),
        );
        assert.equal(containsAll(set, inner), inner.every(has));
        assert.equal(containsAny(set, inner), inner.some(has));
      }
    }),
    { numRuns: 1000 },
  );
});

test("comparing nested and large sets takes time proportional to their size", () => {
  let [left, right]: [CedarValue, CedarValue] = [
    [1, "a"],
    ["a", 1],
  ];
  for (let level = 0; level < 200; level++) [left, right] = [[left], [right]];
  assert.equal(equalValues(left, right), true);
  assert.equal(equalValues(left, [right]), false);
  const numbers = Array.from({ length: 100_000 }, (_, number) => number);
  assert.equal(containsAll(numbers, numbers.toReversed()), true);
  assert.equal(
    containsAny(
      numbers,
      numbers.map((number) => -1 - number),
    ),
    false,
  );
  assert.equal(equalValues(numbers, numbers.toReversed()), true);
});

function shuffled(value: CedarValue): CedarValue {
  return Array.isArray(value)
    ? [...(value as CedarValue[]), ...(value as CedarValue[])].reverse().map(shuffled)
    : value;
}

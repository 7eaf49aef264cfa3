import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { canonicalJson } from "./canonical-json.ts";
import { isJsonObject, type JsonValue } from "./json-value.ts";
import { parseJson } from "./parse-json.ts";

/** The same value with the keys of every object in another order. */
function reordered(value: JsonValue, turn: number): JsonValue {
  if (Array.isArray(value)) return value.map((item) => reordered(item, turn));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, reordered(item, turn)] as const);
  const by = entries.length === 0 ? 0 : turn % entries.length;
  return Object.fromEntries([...entries.slice(by), ...entries.slice(0, by)].toReversed());
}

test("the order in which keys were written makes no difference, at any depth", () => {
  const value = fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(value, fc.nat(5), fc.nat(3), (json, turn, space) => {
      const other = reordered(json, turn);
      assert.equal(canonicalJson(other), canonicalJson(json));
      assert.equal(canonicalJson(parseJson(JSON.stringify(other, undefined, space))), canonicalJson(json));
    }),
    { numRuns: 1000 },
  );
});

test("two values have one form only if they are the same value", () => {
  const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(value, value, (left, right) => {
      if (canonicalJson(left) === canonicalJson(right)) assert.deepEqual(positive(left), positive(right));
      else assert.notDeepEqual(left, right);
    }),
    { numRuns: 1000 },
  );
});

/** -0 is written as 0. */
function positive(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value));
}

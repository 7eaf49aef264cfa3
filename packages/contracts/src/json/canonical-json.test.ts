import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MAX_JSON_DEPTH } from "../limits.ts";
import { canonicalJson, canonicalJsonBytes } from "./canonical-json.ts";
import { JsonValueError } from "./json-value-error.ts";
import { parseJson } from "./parse-json.ts";

class Point {
  x = 1;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function refuses(value: unknown, rule: string, path: string): void {
  assert.throws(
    () => canonicalJson(value),
    (error) => error instanceof JsonValueError && error.rule === rule && error.path === path,
  );
}

test("numbers that are not finite are refused", () => {
  refuses(Number.NaN, "range", "");
  refuses([1, Number.POSITIVE_INFINITY], "range", "/1");
  refuses({ a: { b: Number.NEGATIVE_INFINITY } }, "range", "/a/b");
});

test("lone surrogates are refused in texts and in keys, short and long", () => {
  refuses("\ud800", "format", "");
  refuses(["ok", { text: `${"x".repeat(1000)}\udc00` }], "format", "/1/text");
  refuses({ "\udfff": 1 }, "format", "/\ufffd");
  refuses("\udc00\ud800", "format", "");
});

test("what has no JSON form is refused, not dropped or converted", () => {
  const values: unknown[] = [
    undefined,
    () => 1,
    Symbol("s"),
    1n,
    new Date(0),
    new Map(),
    new Set(),
    /x/,
    new Uint8Array(2),
  ];
  values.push(Object("boxed"), Object(1), new Point(), Promise.resolve(1), Object.create({ inherited: 1 }));
  for (const value of values) {
    refuses(value, "malformed", "");
    refuses({ list: [0, value] }, "malformed", "/list/1");
  }
  refuses(new Array(2), "malformed", "/0");
  refuses({ toJSON: () => "{}" }, "malformed", "/toJSON");
});

test("nesting is bounded, so cycles end too", () => {
  assert.equal(typeof canonicalJson(nested(MAX_JSON_DEPTH)), "string");
  assert.throws(() => canonicalJson(nested(MAX_JSON_DEPTH + 1)), JsonValueError);
  assert.throws(() => canonicalJson(nested(20_000)), JsonValueError);
  const cycle: unknown[] = [];
  cycle.push(cycle, cycle);
  assert.throws(() => canonicalJson(cycle), JsonValueError);
});

test("a path is a JSON pointer with its escapes, and long keys are cut", () => {
  refuses({ "a/b~c": [Number.NaN] }, "range", "/a~1b~0c/0");
  refuses({ ["k".repeat(5000)]: Number.NaN }, "range", `/${"k".repeat(64)}…`);
});

test("the order of keys and the way numbers were written do not matter", () => {
  const texts = [
    '{"a":100,"b":{"c":0,"d":[]}}',
    '{ "b": {"d":[ ],"c":-0.0}, "a": 1E2 }',
    '{"\\u0061":1e2,"b":{"c":0e5,"d":[]}}',
  ];
  const forms = new Set(texts.map((text) => canonicalJson(parseJson(text))));
  assert.deepEqual([...forms], ['{"a":100,"b":{"c":0,"d":[]}}']);
});

test("objects without a prototype and keys like `__proto__` are plain data", () => {
  assert.equal(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 })), '{"a":2,"b":1}');
  assert.equal(canonicalJson(parseJson('{"__proto__":{"x":1},"a":1}')), '{"__proto__":{"x":1},"a":1}');
});

test("the canonical form reads back as the same value and is its own canonical form", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (json) => {
      const text = canonicalJson(json);
      assert.equal(canonicalJson(parseJson(text)), text);
      assert.deepEqual(parseJson(canonicalJsonBytes(json)), parseJson(text));
    }),
    { numRuns: 500 },
  );
});

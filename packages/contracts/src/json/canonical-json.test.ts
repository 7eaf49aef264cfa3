import assert from "node:assert/strict";
import { test } from "node:test";
import canonicalize from "canonicalize";
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

test("RFC 8785, 3.2.2: the example is written as there", () => {
  const source = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
  assert.equal(canonicalJson(parseJson(source)), expected);
  assert.deepEqual(canonicalJsonBytes(parseJson(source)), new TextEncoder().encode(expected));
});

test("RFC 8785, 3.2.3: keys are sorted by their UTF-16 code units", () => {
  const value = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 };
  assert.deepEqual(Object.values(parseAsList(canonicalJson(value))), [2, 4, 6, 7, 1, 5, 3]);
  assert.equal(canonicalJson({ b: 1, a: 2, aa: 3, "": 4, B: 5 }), '{"":4,"B":5,"a":2,"aa":3,"b":1}');
});

function parseAsList(text: string): number[] {
  return [...text.matchAll(/":(\d)/g)].map((match) => Number(match[1]));
}

test("RFC 8785, appendix B: numbers are written as there", () => {
  const samples: readonly (readonly [string, string])[] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ];
  for (const [bits, text] of samples) {
    assert.equal(canonicalJson(Buffer.from(bits, "hex").readDoubleBE()), text, bits);
  }
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

test("every JSON value is written as `canonicalize` writes it", () => {
  const value = fc.oneof(
    fc.jsonValue({ stringUnit: "binary", maxDepth: 5 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  fc.assert(
    fc.property(value, (json) => {
      assert.equal(canonicalJson(json), canonicalize(json));
    }),
    { numRuns: 500 },
  );
});

test("texts of every kind are escaped as `canonicalize` escapes them", () => {
  const unit = fc.oneof(
    fc.constantFrom('"', "\\", "/", "\b", "\f", "\u007f", "\u2028", "\ufeff"),
    fc.nat(0x2000).map((n) => String.fromCharCode(n)),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 120 }), (text) => {
      assert.equal(canonicalJson({ [text]: text }), canonicalize({ [text]: text }));
    }),
  );
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

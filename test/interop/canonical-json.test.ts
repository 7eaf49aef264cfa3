import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { canonicalJson, canonicalJsonBytes, JsonValueError, parseJson } from "@narthex/contracts";
import canonicalize from "canonicalize";
import * as fc from "fast-check";

const SEED = 20_200_608;

test("RFC 8785, appendix B: numbers that JSON cannot represent are rejected", () => {
  for (const bits of ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"]) {
    assert.throws(() => canonicalJson(double(bits)), JsonValueError, bits);
  }
});

test("RFC 8785, appendix B: numbers are written as specified", () => {
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
    assert.equal(canonicalJson(double(bits)), text, bits);
    assert.ok(Object.is(parseJson(text), double(bits)) || double(bits) === 0, `${text} reads back as the same number`);
  }
});

test("RFC 8785, 3.2.2 and 3.2.4: the example is written to the byte", () => {
  const source = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
  const bytes =
    "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e" +
    "333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c7530303066" +
    "5c6e4127425c225c5c5c5c5c222f227d";
  assert.equal(canonicalJson(parseJson(source)), expected);
  assert.equal(Buffer.from(canonicalJsonBytes(parseJson(source))).toString("hex"), bytes);
});

test("RFC 8785, 3.2.3: keys are sorted by their UTF-16 code units", () => {
  const source = String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`;
  assert.deepEqual(
    [...canonicalJson(parseJson(source)).matchAll(/:"([^"]*)"/g)].map((match) => match[1]),
    [
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ],
  );
  assert.equal(canonicalJson({ b: 1, a: 2, aa: 3, "": 4, B: 5 }), '{"":4,"B":5,"a":2,"aa":3,"b":1}');
});

test("5,000 JSON values are written as `canonicalize` writes them", () => {
  const value = fc.jsonValue({ stringUnit: "binary", maxDepth: 5 });
  fc.assert(
    fc.property(value, (json) => {
      assert.equal(canonicalJson(json), canonicalize(json));
    }),
    { numRuns: 5_000, seed: SEED },
  );
});

test("5,000 objects with keys that are hard to sort are written as `canonicalize` writes them", () => {
  // Around the surrogates UTF-16 order is not the order of code points; digits alone are put first by engines.
  const character = fc.constantFrom(
    "\ud83d\ude00",
    "\ufb33",
    "\ue000",
    "\uffff",
    "\ud7ff",
    "a",
    "B",
    "10",
    "9",
    "-",
    "",
  );
  const key = fc.array(character, { maxLength: 3 }).map((characters) => characters.join(""));
  fc.assert(
    fc.property(fc.dictionary(key, fc.nat(9), { maxKeys: 12 }), (json) => {
      assert.equal(canonicalJson(json), canonicalize(json));
    }),
    { numRuns: 5_000, seed: SEED },
  );
});

test("20,000 numbers are written as `canonicalize` writes them", () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
  );
  fc.assert(
    fc.property(numbers, (number) => {
      assert.equal(canonicalJson(number), canonicalize(number));
    }),
    { numRuns: 20_000, seed: SEED },
  );
});

test("5,000 texts of every kind are escaped as `canonicalize` escapes them", () => {
  const unit = fc.oneof(
    fc.constantFrom('"', "\\", "/", "\b", "\f", "\u007f", "\u2028", "\ufeff"),
    fc.nat(0x2000).map((n) => String.fromCharCode(n)),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 120 }), (text) => {
      assert.equal(canonicalJson({ [text]: text }), canonicalize({ [text]: text }));
    }),
    { numRuns: 5_000, seed: SEED },
  );
});

test("frozen values are written as `canonicalize` writes them", () => {
  type Frozen = { readonly text: string; readonly canonical: string };
  const file = new URL("../../vectors/canonical-json/values.json", import.meta.url);
  const frozen = JSON.parse(readFileSync(file, "utf8")) as Frozen[];
  assert.ok(frozen.length > 20);
  for (const { text, canonical } of frozen) assert.equal(canonicalize(JSON.parse(text)), canonical, text);
});

function double(bits: string): number {
  return Buffer.from(bits, "hex").readDoubleBE();
}

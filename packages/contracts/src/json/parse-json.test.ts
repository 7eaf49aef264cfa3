import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import { MAX_JSON_DEPTH, MAX_JSON_ITEMS } from "../limits.ts";
import { explainJson } from "./explain-json.ts";
import { JsonSyntaxError } from "./json-syntax-error.ts";
import { parseJson } from "./parse-json.ts";

const BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxItems: MAX_JSON_ITEMS };

function problem(source: string | Uint8Array): JsonSyntaxError {
  try {
    parseJson(source);
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError);
    return error;
  }
  return assert.fail(`accepted ${String(source).slice(0, 100)}`);
}

function refuses(source: string | Uint8Array, rule: string, path: string): void {
  const { rule: foundRule, path: foundPath, message } = problem(source);
  assert.deepEqual([foundRule, foundPath], [rule, path], `${String(source).slice(0, 100)}: ${message}`);
  assert.match(message, /^[^\n\r]{1,200}$/);
}

test("duplicate keys are refused at any level, however they are written", () => {
  refuses('{"a":1,"a":2}', "duplicate", "/a");
  refuses('{"a":1,"b":{"c":[{},{"x":1,"y":2,"x":1}]}}', "duplicate", "/b/c/1/x");
  refuses('{"a":1,"\\u0061":1}', "duplicate", "/a");
  refuses('{"":1,"":1}', "duplicate", "/");
  refuses('{"__proto__":1,"__proto__":1}', "duplicate", "/__proto__");
  refuses('{"1":1,"1":1}', "duplicate", "/1");
  refuses('{"😀":1,"\\ud83d\\uDE00":1}', "duplicate", "/😀");
  refuses('{"a":{"b":1,"b":2},"a":1}', "duplicate", "/a/b");
});

test("integers that a double cannot hold are refused", () => {
  refuses("9007199254740993", "range", "");
  refuses('{"id":[-9007199254740993]}', "range", "/id/0");
  refuses("12345678901234567890", "range", "");
  refuses("18446744073709551615", "range", "");
  refuses("18446744073709551616", "range", "");
  refuses(`1${"0".repeat(40)}1`, "range", "");
  assert.equal(parseJson("9007199254740992"), 2 ** 53);
  assert.equal(parseJson("-9007199254740991"), -(2 ** 53 - 1));
  assert.equal(parseJson("18446744073709552000"), 2 ** 64);
  assert.equal(parseJson("10000000000000000000000"), 1e22);
});

test("numbers that overflow are refused", () => {
  for (const text of ["1e400", "-1e400", "1E+400", "0.1e1000", `1${"0".repeat(309)}`, "9".repeat(5000)]) {
    refuses(`{"n":${text}}`, "range", "/n");
  }
  assert.equal(parseJson("1.7976931348623157e308"), Number.MAX_VALUE);
});

test("a number is the same value however it is written", () => {
  for (const text of ["100", "1e2", "1E2", "1E+2", "100.0", "0.1e3", "1000e-1"]) assert.equal(parseJson(text), 100);
  assert.equal(parseJson("0.30000000000000004"), 0.1 + 0.2);
});

test("negative zero reads as zero wherever it stands", () => {
  const text = '{"a":[-0,1,-0.0],"b":-0e9,"c":{"__proto__":-0},"d":-1e-400,"e":null}';
  const expected: unknown = JSON.parse('{"a":[0,1,0],"b":0,"c":{"__proto__":0},"d":0,"e":null}');
  assert.deepEqual(parseJson(text), expected);
  assert.ok(Object.is(parseJson("-0"), 0));
});

test("lone surrogates are refused, raw and escaped, in texts and keys", () => {
  refuses('"\\ud800"', "format", "");
  refuses('["a","\\uDFFF"]', "format", "/1");
  refuses('{"a":"\\ud83dx\\ude00"}', "format", "/a");
  refuses('{"\\ud83d":1}', "format", "");
  refuses('"\ud800"', "format", "");
  refuses('{"k\udc00":1}', "format", "");
  refuses(`"${"x".repeat(100)}\\udbff"`, "format", "");
  assert.equal(parseJson('"\\ud83d\\ude00"'), "😀");
  assert.equal(parseJson('"\\\\ud800"'), "\\ud800");
  assert.equal(parseJson('"\\ud7ff\\ue000"'), "\ud7ff\ue000");
});

test("bytes that are not UTF-8 are refused, and a byte order mark is not JSON", () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xe2, 0x82, 0x22],
  ]) {
    refuses(Uint8Array.from(bytes), "malformed", "");
  }
  refuses(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31), "malformed", "");
  refuses("\ufeff1", "malformed", "");
  assert.equal(parseJson(Uint8Array.of(0x22, 0xef, 0xbb, 0xbf, 0x22)), "\ufeff");
});

test("text that is not JSON is refused where it goes wrong", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["", ""],
    [" ", ""],
    ["{", ""],
    ['{"a"', "/a"],
    ['{"a":', "/a"],
    ['{"a":1', ""],
    ['{"a":1,}', ""],
    ["{a:1}", ""],
    ["[1,]", "/1"],
    ["[1 2]", ""],
    ["[,1]", "/0"],
    ["[1", ""],
    ["]", ""],
    ["1 2", ""],
    ['{"a":1}garbage', ""],
    ["{}{}", ""],
    ["nul", ""],
    ["True", ""],
    ["NaN", ""],
    ["Infinity", ""],
    ["-", ""],
    ["+1", ""],
    ["01", ""],
    ["1.", ""],
    [".5", ""],
    ["1e", ""],
    ["0x10", ""],
    ["1_000", ""],
    ["'a'", ""],
    ['"a', ""],
    ['"a\\', ""],
    ['"a\\"', ""],
    ['"\\x41"', ""],
    ['"\\u00g0"', ""],
    ['"\t"', ""],
    ['"a\nb"', ""],
    ['["\0"]', "/0"],
    ["/**/1", ""],
    ["1//", ""],
    ["\u00a01", ""],
    ["undefined", ""],
  ];
  for (const [text, path] of cases) refuses(text, "malformed", path);
});

test("nesting is bounded without using the stack", () => {
  const nest = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.doesNotThrow(() => parseJson(nest(MAX_JSON_DEPTH)));
  refuses(nest(MAX_JSON_DEPTH + 1), "range", "/0".repeat(MAX_JSON_DEPTH));
  assert.equal(problem(nest(10_000)).rule, "range");
  assert.equal(problem("[".repeat(8_000_000)).rule, "range");
  assert.equal(problem('{"a":'.repeat(10_000)).rule, "range");
  assert.doesNotThrow(() => parseJson(`[${"[".repeat(127)}${"]".repeat(127)},"${"[".repeat(1000)}"]`));
});

test("a small text cannot become a large value", () => {
  assert.equal(problem(`[${"{},".repeat(MAX_JSON_ITEMS)}{}]`).rule, "max_items");
  refuses("[".repeat(3) + "1,".repeat(10), "malformed", "/0/0/10");
  assert.throws(() => parseJson("[1,2,3]", { maxItems: 3 }), { rule: "max_items", path: "" });
  assert.throws(() => parseJson("[[1]]", { maxDepth: 1 }), { rule: "range", path: "/0" });
  assert.deepEqual(parseJson("[1,2,3]", { maxItems: 4 }), [1, 2, 3]);
});

test("a string of 100 MB is read", () => {
  const text = "x".repeat(100 * 1024 * 1024);
  assert.equal(parseJson(`"${text}"`), text);
});

test("a string of nothing but escapes is searched once", () => {
  assert.equal(parseJson(`"${"\\n".repeat(2_500_000)}"`), "\n".repeat(2_500_000));
  assert.equal(problem(`"${"\\n".repeat(2_500_000)}`).rule, "malformed");
  assert.equal(problem(`"${'\\"'.repeat(2_500_000)}`).rule, "malformed");
});

test("a million keys are read, and a duplicate among them is found", () => {
  const thousand = Array.from({ length: 1000 }, (_, i) => `"k#${i}":0`).join(",");
  const members = (thousands: number) =>
    Array.from({ length: thousands }, (_, i) => thousand.replaceAll("#", `${i}.`)).join(",");
  const value = parseJson(`{${members(1000)}}`);
  assert.equal(Object.keys(value ?? {}).length, 1_000_000);
  const { rule, path } = problem(`{${members(RUNS_ALL ? 1000 : 400)},"k7.7":0}`);
  assert.deepEqual([rule, path], ["duplicate", ""]);
});

test("numbers of millions of digits are refused at once", () => {
  assert.equal(problem("1".repeat(8_000_000)).rule, "range");
  assert.throws(() => parseJson(`${"0".repeat(8_000_000)}9007199254740993`), JsonSyntaxError);
});

test("`__proto__` is a key like any other", () => {
  const value = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
  assert.ok(typeof value === "object" && value !== null);
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal("polluted" in value, false);
});

test("user text in messages is cut and made visible", () => {
  const { message } = problem(`{"${"k".repeat(500)}":1,"${"k".repeat(500)}":2}`);
  assert.ok(message.length < 200);
  assert.ok(!problem('{"a\\u001b\\u202eb":1,"a\\u001b\\u202eb":2}').message.includes("\u001b"));
  assert.ok(!problem('{"a\\u001b\\u202eb":1,"a\\u001b\\u202eb":2}').path.includes("\u202e"));
});

test("every JSON value that JSON.stringify writes is read back", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary", maxDepth: 6 }), fc.nat(3), (json, space) => {
      const text = JSON.stringify(json, undefined, space);
      assert.deepEqual(
        parseJson(text),
        JSON.parse(text, (_, value: unknown) => (value === 0 ? 0 : value)),
      );
      assert.deepEqual(parseJson(new TextEncoder().encode(text)), parseJson(text));
    }),
    { numRuns: 1000 },
  );
});

test("what is refused is explained, what is accepted has nothing to explain, and JSON.parse agrees", () => {
  const token = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b"',
    '"\\ud800"',
    '"\\\\"',
    '"\\"',
    "1",
    "-0",
    "1e999",
    "9007199254740993",
    "true",
    "nul",
    " ",
    '"',
    "\\",
    "0",
    "e",
    "-",
    ".",
  );
  const text = fc.array(token, { maxLength: 14 }).map((tokens) => tokens.join(""));
  fc.assert(
    fc.property(fc.oneof(text, mutatedJson()), (source) => {
      const explained = explainJson(source, BOUNDS).message !== "the text is not strict JSON";
      let accepted = true;
      try {
        parseJson(source);
      } catch (error) {
        assert.ok(error instanceof JsonSyntaxError);
        accepted = false;
      }
      assert.equal(accepted, !explained);
      if (accepted) assert.doesNotThrow(() => JSON.parse(source));
    }),
    { numRuns: RUNS_ALL ? 20_000 : 5000 },
  );
});

function mutatedJson(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom("", ",", '"', "{", "]", "0", "\\", " ", ":1"))
    .map(([json, at, piece]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + piece + json.slice(cut + (at % 2));
    });
}

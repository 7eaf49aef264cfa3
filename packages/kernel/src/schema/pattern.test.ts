import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { compilePattern, type Pattern } from "./pattern.ts";
import { translatePattern } from "./translate-pattern.ts";

function compiled(source: string): Pattern {
  const pattern = compilePattern(source);
  assert.ok(!("problem" in pattern), `${source}: ${JSON.stringify(pattern)}`);
  return pattern;
}

const PATTERNS = [
  "^$",
  "^.*$",
  "a|b|^c",
  "^(a+)+$",
  "^[0-9a-f]{4}$",
  "^[a-z][a-z0-9_]{0,3}$",
  "^\\S+@\\S+\\.\\w+$",
  "^[\\w.-]+$",
  "\\p{Letter}cole",
  "^\\p{Lu}\\P{L}?",
  "^\\p{Script=Greek}+$",
  "^\\W+$",
  "\\D",
  "[^\\s]",
  "[\\S]",
  "\\s",
  "[^]",
  "[]",
  "[\\]\\[\\-^]",
  "[\\u0041-\\u005a]+",
  "\\u{1F600}",
  "\\ud83d\\ude00",
  "^🐲*$",
  "\\cA",
  "\\x41",
  "\\0",
  "\\v",
  "[\\b]",
  "\\bfoo\\b",
  "\\Boo",
  "a{2,}",
  "x{0,3}?",
  "(?<year>\\d{4})-(?:\\d\\d)",
  "\\/",
  "a.c",
  "(?:)",
  "\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\$",
];
const TEXTS = [
  "",
  "a",
  "aa",
  "aaaa!",
  "abc",
  "a\nc",
  "a\u2028c",
  "école",
  "É1",
  "x@y.z",
  "\u00a0",
  "\u2003",
  "\ufeff",
  "\u180e",
  "\u200b",
  " ",
  "\n",
  "\v",
  "\b",
  "\0",
  "\x01",
  "A",
  "ABC",
  "_",
  "0",
  "12ef",
  "2026-11",
  "a.b-c",
  "/",
  "[",
  "]",
  "^",
  "-",
  "🐲",
  "🐲🐲",
  "😀",
  "foo",
  "foobar",
  "αβγ",
  "xxx",
  ".*+?()[]{}|^$",
];

describe("patterns", () => {
  it("match as ECMAScript specifies, in either engine", () => {
    for (const source of PATTERNS) {
      const native = new RegExp(source, "u");
      const linear = RE2JS.compile(translatePattern(source).source);
      const chosen = compiled(source);
      for (const text of TEXTS) {
        const expected = native.test(text);
        assert.equal(linear.test(text), expected, `${source} on ${JSON.stringify(text)}`);
        assert.equal(chosen.test(text), expected, `${source} on ${JSON.stringify(text)}`);
      }
    }
  });

  it("use the built-in engine only where it cannot backtrack repeatedly", () => {
    const simple = ["^[0-9a-f]{64}$", "^[a-z][a-z0-9_]{0,63}$", "^a*$", "^.{3}x+", "^\\d+$"];
    const other = ["a*", "^(a+)+$", "^a|b", "^a*a*$", "^(?:ab)*$", `^a*${"a".repeat(200)}$`, "(^a)", "\\d+$"];
    for (const source of simple) assert.equal(translatePattern(source).simple, true, source);
    for (const source of other) assert.equal(translatePattern(source).simple, false, source);
  });

  it("count nested repetitions before anything is compiled", () => {
    for (const source of ["(((a{9}){9}){9}){9}", "(?:(?:a?){40}){40}", "(a{30}b{30}){40}", "(x|y){1000}"]) {
      assert.ok("problem" in compilePattern(source), source);
    }
    for (const source of ["a{1000}", "(ab){300}", "(?:[a-f]{2}:){5}[a-f]{2}"]) compiled(source);
  });

  it("cost more for longer texts and larger patterns", () => {
    assert.ok(compiled("(a|b)+c").cost(1_000) > compiled("(a|b)+c").cost(10));
    assert.ok(compiled("(a|b){50}c").cost(100) > compiled("(a|b)+c").cost(100));
  });

  it("are rejected with a reason", () => {
    const reasons: [string, RegExp][] = [
      ["(?=a)", /look-around/],
      ["(?-i:a)", /look-around and modifiers/],
      ["(a)\\1", /back references/],
      ["\\p{Emoji}", /property Emoji/],
      ["\\ud800", /surrogate/],
      ["(", /not a pattern/],
      ["a{1001}", /not a pattern/],
    ];
    for (const [source, reason] of reasons) {
      const pattern = compilePattern(source);
      assert.ok("problem" in pattern, source);
      assert.match(pattern.problem, reason);
    }
  });
});

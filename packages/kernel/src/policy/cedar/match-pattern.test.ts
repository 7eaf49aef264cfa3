import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { compilePattern } from "./match-pattern.ts";

const matches = (pattern: string, text: string): boolean => compilePattern(pattern.split("*"))(text);

test("a pattern matches the whole text, and its ends share no characters", () => {
  const cases: [pattern: string, text: string, expected: boolean][] = [
    ["", "", true],
    ["", "a", false],
    ["a", "ab", false],
    ["a", "ba", false],
    ["*", "", true],
    ["*", "a/b\n", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["ab*ba", "aba", false],
    ["*b*", "aba", true],
    ["*ab*ab*", "aab", false],
    ["*ab*ab*", "abab", true],
    ["a*b*a", "aba", true],
    ["a*b*b", "ab", false],
    ["**", "a", true],
    ["🤖*", "🤖", true],
    ["*🤖", "x🤖", true],
  ];
  for (const [pattern, text, expected] of cases)
    assert.equal(matches(pattern, text), expected, `${pattern} on ${text}`);
});

test("a pattern matches exactly as the definition says", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "*"), maxLength: 7 });
  fc.assert(
    fc.property(pattern, text, (pattern, text) => assert.equal(matches(pattern, text), definition(pattern, text))),
    { numRuns: 2000 },
  );
});

test("many wildcards on a long text take time bounded by the product of both lengths", () => {
  const text = "a".repeat(200_000);
  assert.equal(matches(`${"*a".repeat(1000)}*b`, text), false);
  assert.equal(matches(`${"*a".repeat(1000)}*b*`, text), false);
});

/** A wildcard is nothing, or one character and the wildcard again. */
function definition(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  if (pattern[0] !== "*") return pattern[0] === text[0] && definition(pattern.slice(1), text.slice(1));
  return definition(pattern.slice(1), text) || (text !== "" && definition(pattern, text.slice(1)));
}

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { expandToolPatterns, isToolPattern, toolPatternCovers, toolPatternWithin } from "./tool-pattern.ts";

test("accepts only exact names and one trailing * as patterns", () => {
  for (const text of [
    "",
    "**",
    "a**",
    "*a",
    "a*b",
    "a*b*",
    "A",
    "a-b",
    "a b",
    "_a",
    "1a",
    "a\0",
    "é",
    "a".repeat(65),
    "a\n",
  ]) {
    assert.equal(isToolPattern(text), false, JSON.stringify(text));
  }
  for (const text of ["*", "a", "a*", "file_*", "server__*", "a".repeat(64)]) assert.equal(isToolPattern(text), true);
});

test("a pattern covers only matching names", () => {
  assert.equal(toolPatternCovers("echo", "echo2"), false);
  assert.equal(toolPatternCovers("echo", "Echo"), false);
  assert.equal(toolPatternCovers("file_*", "file"), false);
  assert.equal(toolPatternCovers("a*b", "axb"), false);
  assert.equal(toolPatternCovers("a**", "a*x"), false);
  assert.equal(toolPatternCovers("", ""), true);
  assert.equal(toolPatternCovers("echo", "echo"), true);
  assert.equal(toolPatternCovers("file_*", "file_read"), true);
  assert.equal(toolPatternCovers("*", "echo"), true);
});

test("tools of a server are covered only by patterns with the server's name", () => {
  assert.equal(toolPatternCovers("*", "github__delete"), false);
  assert.equal(toolPatternCovers("git*", "github__delete"), false);
  assert.equal(toolPatternCovers("github*", "github__delete"), false);
  assert.equal(toolPatternCovers("github_*", "github__delete"), false);
  assert.equal(toolPatternCovers("github__*", "github__delete"), true);
  assert.equal(toolPatternCovers("github__del*", "github__delete"), true);
  assert.equal(toolPatternCovers("github__delete", "github__delete"), true);
});

test("a bare * expands to the names known now, without those of servers", () => {
  assert.deepEqual(expandToolPatterns(["*", "x__*", "a"], ["b", "a", "x__y"]), ["a", "b", "x__*"]);
  assert.deepEqual(expandToolPatterns(["*"], []), []);
});

const letters = fc.array(fc.constantFrom("a", "b", "_"), { maxLength: 4 }).map((list) => list.join(""));
const pattern = fc.tuple(letters, fc.constantFrom("", "*")).map(([prefix, star]) => prefix + star);
const names = everyName(5);

function everyName(longest: number): string[] {
  if (longest === 0) return [""];
  const shorter = everyName(longest - 1);
  return [
    ...shorter,
    ...shorter
      .filter((name) => name.length === longest - 1)
      .flatMap((name) => ["a", "b", "_", "c"].map((next) => name + next)),
  ];
}

test("one pattern is within another exactly if all of its names are", () => {
  fc.assert(
    fc.property(pattern, pattern, (inner, outer) => {
      const isInside = names.every((name) => !toolPatternCovers(inner, name) || toolPatternCovers(outer, name));
      assert.equal(toolPatternWithin(inner, outer), isInside);
    }),
    { numRuns: 3000 },
  );
});

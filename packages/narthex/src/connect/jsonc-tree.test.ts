import assert from "node:assert/strict";
import { test } from "node:test";
import { JsoncProblem, parseJsonc, valueOf } from "./jsonc-tree.ts";

test("rejects invalid JSON with its position", () => {
  for (const [text, at] of [
    ["", 0],
    ["  ", 2],
    ["{", 1],
    ['{"a" 1}', 5],
    ['{"a": }', 6],
    ['{"a": 1 "b": 2}', 8],
    ["{a: 1}", 1],
    ["{'a': 1}", 1],
    ["[1, 2", 5],
    ["{} {}", 3],
    ["/* no end", 0],
    ['{"a": "no end}', 6],
    ['{"a": "\\x"}', 6],
    ['{"a": "line\nbreak"}', 6],
    ["[01]", 2],
    ["[,]", 1],
    ["NaN", 0],
    ["[".repeat(200), 101],
  ] as const) {
    assert.throws(
      () => parseJsonc(text),
      (problem) => problem instanceof JsoncProblem && problem.at === at,
      JSON.stringify(text),
    );
  }
});

test("accepts comments, trailing commas and a byte order mark", () => {
  const text = '\ufeff// first\n{ "a": [1, 2,], /* b */ "b": { "c": "//no comment" }, } // last';
  assert.deepEqual(valueOf(parseJsonc(text)), { a: [1, 2], b: { c: "//no comment" } });
});

test("the last of two equal keys counts, and `__proto__` is an ordinary key", () => {
  const value = valueOf(parseJsonc('{"a": 1, "a": 2, "__proto__": {"b": 1}}'));
  assert.equal(JSON.stringify(value), '{"a":2,"__proto__":{"b":1}}');
});

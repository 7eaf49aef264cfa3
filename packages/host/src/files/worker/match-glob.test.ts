import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createGlob } from "./match-glob.ts";

describe("a glob", () => {
  for (const [pattern, fitting, others] of [
    ["*.ts", ["a.ts", "b/c/a.ts", ".ts"], ["a.js", "a.ts.js", "ts"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts", "x/src/a.ts"]],
    ["src/**", ["src/a", "src/b/c"], ["x/src", "srcs/a"]],
    ["**/b/*", ["b/x", "a/b/x", "a/a/b/x"], ["b", "a/b", "b/x/y"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a", "b", "a/bb"]],
    ["**", ["a", "a/b"], []],
    ["?", ["a", "é", "😀"], ["ab", ""]],
    ["[a-cx]", ["a", "b", "c", "x"], ["d", "ax"]],
    ["[!a-c]", ["d", "-"], ["a", "b"]],
    ["[]a]", ["]", "a"], ["b"]],
    ["[a", ["[a"], ["a"]],
    ["\\*", ["*"], ["a"]],
    ["{a,b}.{ts,js}", ["a.ts", "b.js"], ["c.ts", "a.css", "{a,b}.ts"]],
    ["{a,{b,c}}", ["a", "b", "c"], ["{b,c}"]],
    ["{a", ["{a"], ["a"]],
    ["a*b*c", ["abc", "axbxc", "abcbc"], ["ab", "abcd"]],
  ] as const) {
    it(`${pattern} fits what it should, and nothing else`, () => {
      const fits = createGlob(pattern);
      for (const path of fitting) assert.ok(fits(path), path);
      for (const path of others) assert.equal(fits(path), false, path);
    });
  }

  it("stays as quick as it is with patterns that are made to be slow", () => {
    assert.equal(createGlob(`${"*a".repeat(500)}b`)("a".repeat(255)), false);
    assert.equal(createGlob(`${"**/".repeat(300)}b`)(`${"a/".repeat(2000)}c`), false);
    assert.equal(createGlob("{a,b}".repeat(200))("a"), false);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { isInside } from "./is-inside.ts";

test("a directory holds itself and what is below it, and nothing that only begins like it", () => {
  for (const path of ["/home/a", "/home/a/b", "/home/a/..b", "/home/a/b/c"]) assert.ok(isInside("/home/a", path), path);
  for (const path of ["/home", "/", "/home/ab", "/home/b/a", "/home/.."]) assert.ok(!isInside("/home/a", path), path);
});

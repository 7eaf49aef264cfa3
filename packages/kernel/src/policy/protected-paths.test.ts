import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProtectedPaths } from "./protected-paths.ts";

describe("protected paths", () => {
  const isProtected = createProtectedPaths([".git", ".github/workflows", ".env", ".env.*"]);

  it("apply to the named path, everything below it and the directories that contain it, anywhere", () => {
    for (const path of [
      ".git",
      ".git/hooks/pre-commit",
      "deep/er/.git/config",
      ".github/workflows/ci.yml",
      ".github",
      "sub/.github/workflows",
      ".env",
      "app/.env.local",
    ]) {
      assert.ok(isProtected(path), path);
    }
  });

  it("apply to any spelling that a file system may treat as the same", () => {
    for (const path of [".GIT/config", ".Git", ".GitHub/Workflows/x", ".ENV"]) assert.ok(isProtected(path), path);
  });

  it("apply to nothing else", () => {
    for (const path of [".", "git", ".gitignore", ".github/CODEOWNERS", "workflows", "env", ".envy", "a.git/config"]) {
      assert.ok(!isProtected(path), path);
    }
  });

  it("take every character but the star literally", () => {
    const rule = createProtectedPaths(["a+b(c)[d]", "x*y"]);
    assert.ok(rule("a+b(c)[d]"));
    assert.ok(!rule("aab(c)d"));
    assert.ok(rule("x-anything-y"));
    assert.ok(!rule("x/y"));
  });
});

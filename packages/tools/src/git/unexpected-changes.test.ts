import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unexpectedChanges } from "./unexpected-changes.ts";
import type { ConfigEntry } from "./config-entries.ts";
import type { GitOperationName } from "./git-operations.ts";

const entry = (key: string, value: string | undefined = "x"): ConfigEntry => ({
  origin: "file:.git/config",
  key,
  value,
});

function keys(operation: GitOperationName, before: readonly ConfigEntry[], after: readonly ConfigEntry[]): string[] {
  return unexpectedChanges(operation, before, after).map(({ key }) => key);
}

describe("changes of the configuration", () => {
  it("that run programs are never expected", () => {
    for (const operation of ["CLONE", "PULL", "PUSH", "BRANCH", "CHECKOUT", "REMOTE"] as const) {
      for (const key of ["core.hookspath", "filter.x.clean", "remote.o.uploadpack", "alias.x", "include.path"]) {
        assert.deepEqual(keys(operation, [], [entry(key)]), [key], operation);
      }
      assert.deepEqual(keys(operation, [entry("core.fsmonitor", "false")], [entry("core.fsmonitor", "x")]), [
        "core.fsmonitor",
      ]);
    }
  });

  it("say what was there before, all values of it in their order", () => {
    const before = [entry("alias.x", "1"), entry("alias.x", "2"), entry("alias.y")];
    assert.deepEqual(unexpectedChanges("PUSH", before, [entry("alias.x", "2"), entry("alias.y")]), [
      { key: "alias.x", before: ["1", "2"], isThere: true },
    ]);
    assert.deepEqual(unexpectedChanges("PUSH", before, [entry("alias.x", "1"), entry("alias.x", "2")]), [
      { key: "alias.y", before: ["x"], isThere: false },
    ]);
  });

  it("that belong to the operation are expected", () => {
    assert.deepEqual(keys("REMOTE", [], [entry("remote.o.url"), entry("remote.o.fetch")]), []);
    assert.deepEqual(keys("PUSH", [], [entry("branch.a.remote"), entry("branch.a.merge")]), []);
    assert.deepEqual(keys("PUSH", [], [entry("remote.o.url")]), ["remote.o.url"]);
  });

  it("that rename a section move all of it, and no value comes from anywhere else", () => {
    const before = [entry("branch.a.note", "5"), entry("branch.a.mergeoptions", "--no-ff")];
    const renamed = [entry("branch.b.c.note", "5"), entry("branch.b.c.mergeoptions", "--no-ff")];
    assert.deepEqual(keys("BRANCH", before, renamed), []);
    assert.deepEqual(keys("BRANCH", before, []), []);
    assert.deepEqual(keys("BRANCH", before, [entry("branch.b.note", "6")]), ["branch.b.note"]);
    assert.deepEqual(keys("BRANCH", before, [...before, entry("branch.b.mergeoptions", "-s evil")]), [
      "branch.b.mergeoptions",
    ]);
    assert.deepEqual(keys("CHECKOUT", before, renamed).length, 4);
  });
});

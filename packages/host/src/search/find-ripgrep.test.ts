import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { findRipgrep } from "./find-ripgrep.ts";

test("ripgrep comes with the package, and runs", async () => {
  assert.match(execFileSync(await findRipgrep(), ["--no-config", "--version"], { encoding: "utf8" }), /^ripgrep \d+\./);
});

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { listAncestorEntries } from "./list-ancestor-entries.ts";

let workspace: string;
before(async () => {
  workspace = await mkdtemp(join(tmpdir(), "narthex-around-"));
  await mkdir(join(workspace, "a/b/c"), { recursive: true });
  for (const path of ["one", "a/two", "a/b/three", "a/b/c/four"]) await writeFile(join(workspace, path), "");
  await symlink("a", join(workspace, "link"));
});
after(() => rm(workspace, { recursive: true }));

test("what lies in the root and on the way down is found, and nothing beside or below", async () => {
  assert.deepEqual((await listAncestorEntries(workspace, ".")).sort(), ["a", "link", "one"]);
  assert.deepEqual((await listAncestorEntries(workspace, "a/b")).sort(), [
    "a",
    "a/b",
    "a/b/c",
    "a/b/three",
    "a/two",
    "link",
    "one",
  ]);
});

test("a link, a file and nothing in the place of a directory end the way", async () => {
  for (const directory of ["link/b", "one/x", "missing/x"]) {
    assert.deepEqual((await listAncestorEntries(workspace, directory)).sort(), ["a", "link", "one"]);
  }
});

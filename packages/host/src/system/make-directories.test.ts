import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeDirectories } from "./make-directories.ts";

test("refuses a directory below a file, and one that the system does not make", async () => {
  const base = await mkdtemp(join(tmpdir(), "narthex-directories-"));
  await writeFile(join(base, "file"), "");
  await assert.rejects(makeDirectories(join(base, "file/a/b"), 0o700), { code: "ENOTDIR" });
  await assert.rejects(makeDirectories("/proc/nope/a", 0o700), { code: "ENOENT" });
  await rm(base, { recursive: true });
});

test("makes what is missing, gives the first directory it made, and leaves what is there", async () => {
  const base = await mkdtemp(join(tmpdir(), "narthex-directories-"));
  assert.equal(await makeDirectories(join(base, "a/b/c"), 0o700), join(base, "a"));
  assert.equal((await stat(join(base, "a/b/c"))).mode & 0o777, 0o700);
  assert.equal(await makeDirectories(join(base, "a/b/c"), 0o700), undefined);
  await rm(base, { recursive: true });
});

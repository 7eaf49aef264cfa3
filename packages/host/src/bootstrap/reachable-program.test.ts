import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { reachableProgram } from "./reachable-program.ts";

const isRoot = process.getuid?.() === 0;
const SOMEBODY = { uid: 65_533, gid: 65_533 };

describe("a program of the kernel's own", () => {
  let root: string;
  let copies: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-reachable-"));
    await chmod(root, 0o755);
    copies = join(root, "cache/programs");
    await mkdir(join(root, "closed/program"), { recursive: true });
    await writeFile(join(root, "closed/program/main.js"), "program", { mode: 0o600 });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it("is used in place if sandboxed programs can read it or run as the kernel's user", async () => {
    await chmod(join(root, "closed/program/main.js"), 0o644);
    const path = join(root, "closed/program/main.js");
    assert.equal(await reachableProgram(path, SOMEBODY, copies), path);
    assert.deepEqual(await readdir(copies).catch(() => []), []);
  });

  if (isRoot) {
    it("is copied once to where they can read it, if it lies in a closed directory", async () => {
      await chmod(join(root, "closed"), 0o700);
      for (const path of [join(root, "closed/program"), join(root, "closed/program/main.js")]) {
        const found = await reachableProgram(path, SOMEBODY, copies);
        assert.ok(found.startsWith(copies), found);
        assert.equal(found, await reachableProgram(path, { uid: 1000, gid: 1000 }, copies));
        const { uid, mode } = await stat(found);
        assert.deepEqual([uid, mode & 0o777], [0, 0o755]);
      }
      const file = await reachableProgram(join(root, "closed/program"), SOMEBODY, copies);
      assert.equal(await readFile(join(file, "main.js"), "utf8"), "program");
      assert.equal((await readdir(copies)).length, 2);
    });

    it("is not trusted in a directory that another user can change", async () => {
      await chmod(join(root, "closed"), 0o700);
      await mkdir(copies, { recursive: true });
      await chown(copies, 1000, 1000);
      await assert.rejects(reachableProgram(join(root, "closed/program"), SOMEBODY, copies), { code: "SANDBOX_ERROR" });
      await chown(copies, 0, 0);
      await chmod(copies, 0o777);
      await assert.rejects(reachableProgram(join(root, "closed/program"), SOMEBODY, copies), { code: "SANDBOX_ERROR" });
    });
  }
});

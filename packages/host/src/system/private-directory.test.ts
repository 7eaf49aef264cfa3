import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openNamedDirectory, openPrivateDirectory } from "./private-directory.ts";

describe("a private directory", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "narthex-private-")));
  after(() => rm(root, { recursive: true }));

  async function modeOf(path: string): Promise<number> {
    return (await stat(path)).mode & 0o777;
  }

  it("is refused in place of a link, a file, or a directory that others can write", async () => {
    const target = join(root, "target");
    await mkdir(target, { mode: 0o700 });
    await symlink(target, join(root, "link"));
    await symlink(join(root, "missing"), join(root, "dangling"));
    await writeFile(join(root, "file"), "");
    await mkdir(join(root, "shared"));
    await chmod(join(root, "shared"), 0o730);
    for (const name of ["link", "dangling", "file", "shared"]) {
      await assert.rejects(openPrivateDirectory(join(root, name)), { code: "HOME_UNSAFE" }, name);
    }
    for (const name of ["dangling", "file", "shared"]) {
      await assert.rejects(openNamedDirectory(join(root, name)), { code: "HOME_UNSAFE" }, name);
    }
  });

  it("is refused if it belongs to another user", async () => {
    const path = join(root, "given-away");
    await mkdir(path, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(path, 12_345, 12_345);
    // Only root can give a directory away; another user has root's at hand.
    await assert.rejects(openPrivateDirectory(isRoot ? path : "/usr"), {
      code: "HOME_UNSAFE",
      message: isRoot ? /belongs to user 12345/ : /belongs to user 0/,
    });
  });

  it("is created with the directories above it, all private", async () => {
    const path = join(root, "a", "b", "c");
    assert.equal(await openPrivateDirectory(path), path);
    for (const made of [path, join(root, "a", "b"), join(root, "a")]) assert.equal(await modeOf(made), 0o700);
  });

  it("is made private if others could read it", async () => {
    const path = join(root, "readable");
    await mkdir(path);
    await chmod(path, 0o755);
    await openPrivateDirectory(path);
    assert.equal(await modeOf(path), 0o700);
  });

  it("that the user names may be a link, and is then known by its real path", async () => {
    const target = join(root, "elsewhere");
    await mkdir(target, { mode: 0o700 });
    await symlink(target, join(root, "named"));
    assert.equal(await openNamedDirectory(join(root, "named")), target);
    assert.equal(await openNamedDirectory(join(root, "new")), join(root, "new"));
  });
});

import assert from "node:assert/strict";
import { chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { removeOwnTree } from "./remove-own-tree.ts";

describe("removing a directory of the kernel's own", () => {
  let root: string;
  let tree: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-remove-"));
    tree = join(root, "tree");
    await mkdir(join(tree, "a/b"), { recursive: true });
    await mkdir(join(root, "outside"));
    await writeFile(join(root, "outside/kept"), "");
  });
  afterEach(() => rm(root, { recursive: true }));

  it("takes everything in it, and nothing that a link in it leads to", async () => {
    await writeFile(join(tree, "a/b/file"), "");
    await writeFile(Buffer.concat([Buffer.from(`${tree}/a/`), Buffer.from([0xff])]), "");
    await symlink(join(root, "outside"), join(tree, "a/link"));
    await symlink("nowhere", join(tree, "dangling"));
    removeOwnTree(tree);
    removeOwnTree(tree);
    assert.deepEqual(await readdir(root), ["outside"]);
    assert.ok((await stat(join(root, "outside/kept"))).isFile());
  });

  it("refuses a link in its place, and a directory of another user", async () => {
    await symlink(join(root, "outside"), join(root, "link"));
    assert.throws(() => removeOwnTree(join(root, "link")));
    if (process.getuid?.() === 0) {
      await chown(tree, 1000, 1000);
      assert.throws(() => removeOwnTree(tree), { code: "HOME_UNSAFE", message: /belongs to user 1000/ });
    }
    assert.ok((await stat(join(tree, "a/b"))).isDirectory());
    assert.ok((await stat(join(root, "outside/kept"))).isFile());
  });
});

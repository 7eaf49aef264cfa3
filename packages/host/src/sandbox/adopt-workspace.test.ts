import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, chown, link, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { adoptWorkspace } from "./adopt-workspace.ts";
import { DEFAULT_SANDBOX_UID, findWorkspaceIdentity } from "./workspace-identity.ts";

const [MOUNT, UNMOUNT] = ["mount", "umount"] as const;
const isRoot = process.getuid?.() === 0;
const USER = { uid: 1000, gid: 1000 };
const ROOT = { uid: 0, gid: 0, sandboxUid: DEFAULT_SANDBOX_UID };

describe("adopting a workspace", () => {
  let root: string;
  let workspace: string;
  const owner = async (name: string): Promise<number> => (await lstat(join(workspace, name))).uid;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-adopt-"));
    workspace = join(root, "workspace");
    await mkdir(workspace);
  });
  afterEach(() => rm(root, { recursive: true }));

  it("hands root's files and directories over, and nothing that lies elsewhere", async (context) => {
    const outside = join(root, "outside");
    await writeFile(outside, "");
    await mkdir(join(workspace, "a/b"), { recursive: true });
    await writeFile(join(workspace, "a/b/file"), "");
    await writeFile(join(workspace, "theirs"), "");
    await symlink(outside, join(workspace, "link"));
    await symlink(root, join(workspace, "a/up"));
    await link(outside, join(workspace, "second-name"));
    if (!isRoot) {
      context.diagnostic("not root: nothing here is root's, so nothing is handed over");
      assert.equal((await adoptWorkspace(workspace, USER)).adopted, 0);
      return;
    }
    await chown(join(workspace, "theirs"), 1001, 1001);
    const report = await adoptWorkspace(workspace, USER);
    assert.deepEqual(report, { adopted: 4, left: 1, leftPaths: ["second-name"] });
    assert.deepEqual(
      await Promise.all(["", "a", "a/b", "a/b/file", "theirs", "link", "a/up", "second-name", ".."].map(owner)),
      [1000, 1000, 1000, 1000, 1001, 0, 0, 0, 0],
    );
    const after = await findWorkspaceIdentity(workspace, ROOT);
    assert.deepEqual([after.identity, after.access], [USER, "write"]);
    assert.equal((await adoptWorkspace(workspace, { uid: 1002, gid: 1002 })).adopted, 0);
    assert.equal(await owner(""), 1000);
  });

  it("takes setuid bits away, leaves pipes to root, and adopts files whose names are not text", async () => {
    await writeFile(join(workspace, "setuid"), "", { mode: 0o755 });
    await chmod(join(workspace, "setuid"), 0o6755);
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    const odd = Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff, 0xfe])]);
    await writeFile(odd, "");
    if (!isRoot) return;
    assert.deepEqual(await adoptWorkspace(workspace, USER), { adopted: 3, left: 1, leftPaths: ["pipe"] });
    assert.equal((await lstat(join(workspace, "setuid"))).mode & 0o7777, 0o755);
    assert.deepEqual([(await lstat(odd)).uid, await owner("pipe")], [1000, 0]);
  });

  it("leaves what another mount shows, of the same device too", async (context) => {
    await mkdir(join(root, "elsewhere"));
    await writeFile(join(root, "elsewhere/file"), "");
    await mkdir(join(workspace, "mounted"));
    const words = ["--bind", join(root, "elsewhere"), join(workspace, "mounted")];
    if (spawnSync(MOUNT, words).status !== 0) return context.diagnostic("nothing can be mounted here");
    try {
      assert.deepEqual(await adoptWorkspace(workspace, USER), { adopted: 1, left: 1, leftPaths: ["mounted"] });
      assert.equal((await lstat(join(root, "elsewhere/file"))).uid, 0);
    } finally {
      execFileSync(UNMOUNT, [join(workspace, "mounted")]);
    }
  });

  it("is refused for what is no directory, and for one that is reached by a link", async () => {
    const file = join(root, "file");
    await writeFile(file, "");
    await mkdir(join(workspace, "inner"));
    await symlink(workspace, join(root, "link"));
    for (const [path, code] of [
      [file, "WORKSPACE_REFUSED"],
      [join(root, "absent"), "WORKSPACE_REFUSED"],
      [join(root, "link"), "WORKSPACE_REFUSED"],
      [join(root, "link/inner"), "PATH_ESCAPE"],
    ] as const) {
      await assert.rejects(adoptWorkspace(path, USER), { code });
    }
  });
});

import assert from "node:assert/strict";
import { chown, mkdir, mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { DEFAULT_SANDBOX_UID, findWorkspaceIdentity } from "./workspace-identity.ts";

const isRoot = process.getuid?.() === 0;
const USER = { uid: 1000, gid: 1000 };
const ROOT = { uid: 0, gid: 0, sandboxUid: DEFAULT_SANDBOX_UID };

describe("who programs in a workspace are", () => {
  let root: string;
  let workspace: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-identity-"));
    workspace = join(root, "workspace");
    await mkdir(workspace);
  });
  afterEach(() => rm(root, { recursive: true }));

  test("is an error for a missing workspace", async () => {
    await assert.rejects(findWorkspaceIdentity(join(root, "none"), ROOT), { code: "FILE_NOT_FOUND" });
  });

  test("is the kernel's own user, whatever the workspace's owner", async () => {
    const { ino, dev } = await stat("/", { bigint: true });
    const found = await findWorkspaceIdentity("/", { uid: 1234, gid: 5678, sandboxUid: DEFAULT_SANDBOX_UID });
    const directory = { device: dev, inode: ino };
    assert.deepEqual(found, { identity: { uid: 1234, gid: 5678 }, directory, access: "write", reason: undefined });
  });

  test("is not found out by way of a link, at the end of its path or on the way", async () => {
    await mkdir(join(workspace, "inner"));
    await symlink(workspace, join(root, "link"));
    await assert.rejects(findWorkspaceIdentity(join(root, "link"), ROOT), { code: "NOT_A_DIRECTORY" });
    await assert.rejects(findWorkspaceIdentity(join(root, "link", "inner"), ROOT), { code: "PATH_ESCAPE" });
  });

  test("is never root: for a workspace of root it is an unprivileged user with read access only", async () => {
    const { identity, access, reason } = await findWorkspaceIdentity("/", ROOT);
    assert.deepEqual([identity, access], [{ uid: DEFAULT_SANDBOX_UID, gid: DEFAULT_SANDBOX_UID }, "read"]);
    assert.match(reason ?? "", /belongs to root.*chown it to a user/);
    await assert.rejects(findWorkspaceIdentity("/", { ...ROOT, sandboxUid: 0 }), { code: "SANDBOX_UNAVAILABLE" });
  });

  test("is the workspace's owner if the kernel is root", async (context) => {
    if (isRoot) await chown(workspace, USER.uid, USER.gid);
    else context.diagnostic("not root: the owner is whoever runs this test");
    const owner = await stat(workspace);
    const { identity, access } = await findWorkspaceIdentity(workspace, ROOT);
    assert.deepEqual([identity, access], [{ uid: owner.uid, gid: owner.gid }, "write"]);
  });
});

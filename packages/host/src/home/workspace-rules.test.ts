import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { resolveWorkspace } from "./workspace-rules.ts";

test("a workspace around, inside or at the kernel's home, `/`, the user's home, a file and nothing are refused", async () => {
  const base = await mkdtemp(join(tmpdir(), "narthex-workspace-"));
  const home = join(base, "home");
  const userHome = join(base, "user");
  await mkdir(join(home, "inner"), { recursive: true });
  await mkdir(join(userHome, ".local/state/narthex/sessions"), { recursive: true });
  await writeFile(join(base, "file"), "");
  await symlink(home, join(base, "link"));
  for (const workspace of [
    base,
    home,
    join(home, "inner"),
    join(base, "link"),
    "/",
    userHome,
    join(userHome, ".local"),
    join(userHome, ".local/state/narthex/sessions"),
    // The pipes of other sessions lie there.
    tmpdir(),
    join(base, "file"),
    join(base, "none"),
    JSON.parse("null") as string,
  ]) {
    await assert.rejects(resolveWorkspace(workspace, { home, userHome }), { code: "WORKSPACE_REFUSED" }, workspace);
  }
});

test("any other directory is answered by its real path", async () => {
  const base = await mkdtemp(join(tmpdir(), "narthex-workspace-"));
  await mkdir(join(base, "home-of-others"));
  await symlink(join(base, "home-of-others"), join(base, "link"));
  const around = { home: join(base, "home"), userHome: join(base, "user") };
  const first = join(base, "user/.local/state/narthex/workspaces/first");
  await mkdir(first, { recursive: true });
  assert.equal(await resolveWorkspace(first, around), first);
  assert.equal(await resolveWorkspace(join(base, "link"), around), join(base, "home-of-others"));
});

test("a directory that this user may not read is refused before a session is opened on it", async () => {
  const base = await mkdtemp(join(tmpdir(), "narthex-workspace-"));
  const closed = join(base, "closed");
  await mkdir(closed, { mode: 0o000 });
  await chmod(base, 0o755);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    const around = { home: join(base, "home"), userHome: join(base, "user") };
    await assert.rejects(resolveWorkspace(closed, around), { code: "WORKSPACE_REFUSED", message: /may not read it/ });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

import assert from "node:assert/strict";
import { chmod, lchown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import { DiskSpace } from "../storage/disk-space.ts";
import { DEFAULT_STORAGE_LIMITS } from "../storage/storage-limits.ts";
import { SessionScratch } from "./session-scratch.ts";

const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: 1000, gid: 1000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const ONE = `ses_${"a".repeat(20)}`;
const OTHER = `ses_${"b".repeat(20)}`;

describe("a session's scratch directory", () => {
  let root: string;
  let parent: string;
  let containment: Containment;
  let scratch: SessionScratch;
  const open = (maxBytes = 1024 * 1024 * 1024): SessionScratch =>
    new SessionScratch({
      containment: () => Promise.resolve(containment),
      cacheDirectory: parent,
      space: new DiskSpace(DEFAULT_STORAGE_LIMITS),
      maxBytes,
    });
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-scratch-"));
    await chmod(root, 0o711);
    containment = await openContainment({ directory: join(root, "sandbox") });
  });
  beforeEach(async () => {
    parent = await mkdtemp(join(root, "cache-"));
    await chmod(parent, 0o711);
    scratch = open();
  });
  after(async () => {
    await containment.close();
    await rm(root, { recursive: true, force: true });
  });

  it("is closed to everyone but the user its programs run as, and the session's own", async () => {
    const [one, again, other] = [
      (await scratch.enter(ONE, parent, identity)).mount,
      (await scratch.enter(ONE, parent, identity)).mount,
      (await scratch.enter(OTHER, parent, identity)).mount,
    ];
    assert.equal(one.source, again.source);
    assert.notEqual(one.source, other.source);
    const { uid, mode } = await stat(one.source);
    assert.deepEqual([uid, mode & 0o777, one.target, one.access], [identity.uid, 0o700, "/scratch", "write"]);
  });

  it("is not made where a link or another user's directory lies", async () => {
    await symlink(root, join(parent, `scratch-${ONE}`));
    await assert.rejects(scratch.enter(ONE, parent, identity), { code: "SANDBOX_ERROR" });
    if (!isRoot) return;
    await mkdir(join(parent, `scratch-${OTHER}`));
    await lchown(join(parent, `scratch-${OTHER}`), 1001, 1001);
    await assert.rejects(scratch.enter(OTHER, parent, identity), { code: "SANDBOX_ERROR" });
  });

  it("goes with the session, and takes nothing with it that a link in it leads to", async () => {
    const [one, other] = [
      (await scratch.enter(ONE, parent, identity)).mount,
      (await scratch.enter(OTHER, parent, identity)).mount,
    ];
    const kept = join(parent, "kept");
    await mkdir(kept);
    await writeFile(join(kept, "file"), "kept");
    await symlink(kept, join(one.source, "link"));
    await symlink(parent, join(one.source, "up"));
    await mkdir(join(one.source, "closed/inner"), { recursive: true });
    for (const name of ["link", "up", "closed", "closed/inner"]) {
      await lchown(join(one.source, name), identity.uid, identity.gid);
    }
    await chmod(join(one.source, "closed"), 0);
    await scratch.remove(ONE);
    await scratch.remove(ONE);
    await scratch.remove(`ses_${"c".repeat(20)}`);
    await assert.rejects(stat(one.source), { code: "ENOENT" });
    assert.equal((await stat(join(kept, "file"))).size, 4);
    assert.ok((await stat(other.source)).isDirectory());
  });

  it("over its bound, as an earlier kernel left it, is emptied before the next program", async () => {
    const { mount } = await scratch.enter(ONE, parent, identity);
    await writeFile(join(mount.source, "large"), new Uint8Array(300_000));
    await lchown(join(mount.source, "large"), identity.uid, identity.gid);
    await open().enter(ONE, parent, identity);
    assert.equal((await stat(join(mount.source, "large"))).size, 300_000);
    await open(200_000).enter(ONE, parent, identity);
    assert.deepEqual(await readdir(mount.source), []);
  });

  it("that a killed kernel left goes if its session has ended, and stays otherwise", async () => {
    const [one, other] = [
      (await scratch.enter(ONE, parent, identity)).mount,
      (await scratch.enter(OTHER, parent, identity)).mount,
    ];
    await mkdir(join(parent, "scratch-of-something-else"));
    await writeFile(join(one.source, "file"), "");
    await lchown(join(one.source, "file"), identity.uid, identity.gid);
    const next = open();
    await next.removeLeftovers((sessionId) => Promise.resolve(sessionId === ONE));
    await assert.rejects(stat(one.source), { code: "ENOENT" });
    assert.ok((await stat(other.source)).isDirectory());
    assert.ok((await stat(join(parent, "scratch-of-something-else"))).isDirectory());
  });
});

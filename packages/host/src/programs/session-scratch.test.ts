import assert from "node:assert/strict";
import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { SessionScratch } from "./session-scratch.ts";

const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: 1000, gid: 1000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

describe("a session's scratch directory", () => {
  let parent: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "narthex-scratch-"));
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  it("is closed to everyone but whom its programs run as, and the session's own", async () => {
    const scratch = new SessionScratch();
    const [one, again, other] = [
      await scratch.mountFor("ses_one", parent, identity),
      await scratch.mountFor("ses_one", parent, identity),
      await scratch.mountFor("ses_two", parent, identity),
    ];
    assert.equal(one.source, again.source);
    assert.notEqual(one.source, other.source);
    const { uid, mode } = await stat(one.source);
    assert.deepEqual([uid, mode & 0o777, one.target, one.access], [identity.uid, 0o700, "/scratch", "write"]);
  });

  it("goes with the session, and takes nothing with it that a link in it leads to", async () => {
    const scratch = new SessionScratch();
    const [one, other] = [
      await scratch.mountFor("ses_one", parent, identity),
      await scratch.mountFor("ses_two", parent, identity),
    ];
    const kept = join(parent, "kept");
    await writeFile(kept, "kept");
    await symlink(kept, join(one.source, "link"));
    await symlink(parent, join(one.source, "up"));
    await scratch.remove("ses_one");
    await scratch.remove("ses_one");
    await scratch.remove("ses_unknown");
    await assert.rejects(stat(one.source), { code: "ENOENT" });
    assert.equal((await stat(kept)).size, 4);
    assert.ok((await stat(other.source)).isDirectory());
  });
});

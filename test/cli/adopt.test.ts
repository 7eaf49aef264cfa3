import assert from "node:assert/strict";
import { chmod, chown, link, lstat, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { DEFAULT_SANDBOX_UID } from "../../packages/host/src/sandbox/workspace-identity.ts";
import { handOverWorkspace } from "../../packages/host/src/bootstrap/hand-over-workspace.ts";
import { createHostedHome, objectOf, type Serving, type TestHome, textOf } from "./home.ts";

const isRoot = process.getuid?.() === 0;

describe("narthex session open --adopt", { timeout: 120_000 }, () => {
  let at: TestHome;
  let serving: Serving | undefined;
  before(async () => {
    at = await createHostedHome();
    await chmod(at.root, 0o711);
  });
  after(async () => {
    const code = await serving?.stop();
    await at.remove();
    assert.equal(code ?? 0, 0);
  });

  const open = async (workspace: string, ...options: readonly string[]): Promise<string> =>
    textOf((await at.ask(["session", "open", "--workspace", workspace, ...options]))["session_id"]);
  const write = (session: string, path: string, code?: number) =>
    at.ask(["call", "file_write", JSON.stringify({ path, content: "x" }), "--session", session], code);

  async function makeProject(name: string): Promise<string> {
    const workspace = join(at.root, name);
    await mkdir(join(workspace, "src/deep"), { recursive: true });
    await writeFile(join(workspace, "src/deep/file"), "mine", { mode: 0o600 });
    return workspace;
  }

  if (isRoot) {
    it("makes a workspace of root's writable for tools, which name this command before", async () => {
      const workspace = await makeProject("plain");
      const refused = await write(await open(workspace), "a", 1);
      assert.equal(refused["error_code"], "SANDBOX_UNAVAILABLE", JSON.stringify(refused));
      assert.match(textOf(refused["message"]), /belongs to root.*`narthex session open --adopt`/);
      assert.equal((await stat(workspace)).uid, 0);
      const session = await open(workspace, "--adopt");
      assert.equal((await write(session, "src/deep/made"))["status"], "success");
      assert.equal((await write(session, "src/deep/file"))["status"], "success");
      for (const path of ["", "src", "src/deep", "src/deep/file", "src/deep/made"]) {
        assert.equal((await stat(join(workspace, path))).uid, DEFAULT_SANDBOX_UID, path);
      }
    });

    it("works the same through a running kernel", async () => {
      const workspace = await makeProject("served");
      // Until the end: what follows goes to it as well.
      serving = await at.serve();
      const session = await open(workspace, "--adopt");
      assert.equal((await write(session, "a"))["status"], "success");
      assert.equal((await stat(join(workspace, "a"))).uid, DEFAULT_SANDBOX_UID);
    });

    it("hands over nothing outside, no file of another user, and no file with a second hard link", async () => {
      const workspace = await makeProject("careful");
      const outside = join(at.root, "outside");
      await writeFile(outside, "outside");
      await writeFile(join(at.root, "twin"), "twin");
      await symlink(outside, join(workspace, "link"));
      await symlink(at.root, join(workspace, "up"));
      await link(join(at.root, "twin"), join(workspace, "twin"));
      await writeFile(join(workspace, "theirs"), "theirs");
      await chown(join(workspace, "theirs"), 1234, 1234);
      await open(workspace, "--adopt");
      assert.equal((await stat(outside)).uid, 0);
      assert.equal((await stat(at.root)).uid, 0);
      assert.equal((await stat(join(at.root, "twin"))).uid, 0);
      assert.equal((await lstat(join(workspace, "link"))).uid, 0);
      assert.equal((await stat(join(workspace, "theirs"))).uid, 1234);
    });

    it("leaves a workspace of another user unchanged", async () => {
      const workspace = await makeProject("theirs");
      await chown(workspace, 1000, 1000);
      await open(workspace, "--adopt");
      assert.equal((await stat(workspace)).uid, 1000);
      assert.equal((await stat(join(workspace, "src"))).uid, 0);
    });

    it("changes nothing if the session is not opened", async () => {
      const workspace = await makeProject("unopened");
      await writeFile(join(at.root, "lease.json"), '{"budgets": {"calls": -1}}');
      const refused = await at.ask(
        ["session", "open", "--workspace", workspace, "--adopt", "--lease", join(at.root, "lease.json")],
        4,
      );
      assert.equal(objectOf(refused["error"])["code"], "LEASE_INVALID");
      assert.equal((await stat(workspace)).uid, 0);
    });

    it("fails under a kernel without root rights, which says what to do", async () => {
      const workspace = await makeProject("unprivileged");
      const message = /this kernel is not root: chown it to user 1000/;
      const who = { uid: 1000, gid: 1000, sandboxUid: DEFAULT_SANDBOX_UID };
      await assert.rejects(handOverWorkspace(workspace, undefined, who), { code: "WORKSPACE_REFUSED", message });
    });
  } else {
    it("changes nothing for an ordinary user, as tools run as that user", async () => {
      const session = await open(await makeProject("own"), "--adopt");
      assert.equal((await write(session, "a"))["status"], "success");
    });
  }

  it("never hands over system files", async () => {
    for (const workspace of ["/etc", "/usr/share", "/var/log", "/opt", "/root/.."]) {
      const real = workspace === "/root/.." ? "/" : workspace;
      const { uid, mode } = await stat(real);
      const answer = await at.ask(["session", "open", "--workspace", workspace, "--adopt"], 4);
      assert.equal(objectOf(answer["error"])["code"], "WORKSPACE_REFUSED", workspace);
      assert.deepEqual([(await stat(real)).uid, (await stat(real)).mode], [uid, mode]);
    }
  });
});

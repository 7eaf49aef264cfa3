import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { versionWarning } from "./client-version.ts";
import { claude } from "./claude.ts";

describe("the version of a client", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-version-"));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const VERSIONS = { command: "client", tried: "2.4.0", least: "2.3.4", before: "fails open" };

  async function install(directory: string, script: string): Promise<string> {
    await mkdir(join(root, directory), { recursive: true });
    await writeFile(join(root, directory, "client"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return join(root, directory);
  }
  const warn = (path: string, workspace = "/nowhere") =>
    versionWarning(VERSIONS, "Client", { workspace, environment: { PATH: `${path}:/usr/bin:/bin` } });

  it("is accepted from the minimum on, in any output format", async () => {
    for (const line of ["2.3.4", "client 2.3.10 (abc)", "v3.0.0", "10.0.1"]) {
      assert.equal(await warn(await install("fine", `echo '${line}'`)), undefined, line);
    }
  });

  it("is named if its calls would bypass the kernel", async () => {
    for (const version of ["2.3.3", "2.2.99", "1.9.9", "0.0.1"]) {
      const warning = await warn(await install("old", `echo ${version}`));
      assert.equal(warning, `Client ${version} fails open: update it to 2.3.4 or later (tried: 2.4.0)`);
    }
    assert.equal(claude.versions?.least, "2.1.295");
  });

  it("is unknown if the program is missing, fails or prints none", async () => {
    assert.match((await warn(join(root, "empty"))) ?? "", /`client` is not on the PATH/);
    for (const script of ["exit 1", "echo hello", "kill -9 $$"]) {
      assert.match((await warn(await install("odd", script))) ?? "", /told no version/, script);
    }
  });

  it("is never read by running a program in the workspace", async () => {
    const workspace = join(root, "workspace");
    const marker = join(root, "ran");
    const inside = await install("workspace/node_modules/.bin", `touch ${marker}; echo 9.9.9`);
    await mkdir(join(root, "linked"));
    await symlink(join(inside, "client"), join(root, "linked/client"));
    assert.match((await warn(`${inside}:${join(root, "linked")}:.:`, workspace)) ?? "", /not on the PATH/);
    await assert.rejects(async () => (await import("node:fs/promises")).stat(marker), { code: "ENOENT" });
  });
});

import assert from "node:assert/strict";
import {
  access,
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { HOME_PATH, type SandboxPlan } from "../sandbox/sandbox-plan.ts";
import { createTestSandbox, type TestSandbox } from "../sandbox/testing/test-sandbox.ts";
import { findToolchains } from "./find-toolchains.ts";
import { toolchainEnvironment, toolchainPath, toolchainMounts } from "./toolchain-plan.ts";

/** Real programs outside `/usr`, used by a repository's own tests in a real sandbox. */
describe("a repository that needs programs outside /usr", () => {
  let sandbox: TestSandbox;
  let root: string;
  before(async () => {
    sandbox = await createTestSandbox();
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-tools-")));
    await chmod(root, 0o755);
  });
  after(async () => {
    await sandbox.remove();
    await rm(root, { recursive: true });
  });

  async function planFor(directories: readonly string[]): Promise<Partial<SandboxPlan>> {
    const toolchains = await findToolchains({
      path: [...directories, "/usr/bin"].join(":"),
      userHome: join(root, "user"),
      kernelHome: join(root, "kernel"),
      workspace: sandbox.workspace,
      identity: sandbox.identity,
      node: "/usr/bin/env",
    });
    return {
      mounts: [...sandbox.plan.mounts, ...toolchainMounts(toolchains)],
      environment: { PATH: toolchainPath(toolchains), HOME: HOME_PATH, ...toolchainEnvironment(toolchains) },
    };
  }

  test("runs its tests with that Node, by name, by shebang and by link", async () => {
    const prefix = join(root, "node-elsewhere");
    const links = join(root, "links");
    await mkdir(join(prefix, "bin"), { recursive: true });
    await mkdir(join(prefix, "lib"));
    await mkdir(links);
    const node = await realpath(process.execPath);
    await link(node, join(prefix, "bin/node")).catch(() => copyFile(node, join(prefix, "bin/node")));
    await writeFile(join(prefix, "bin/hello"), `#!${prefix}/bin/node\nconsole.log("by shebang");\n`, { mode: 0o755 });
    await symlink(join(prefix, "bin/node"), join(links, "nodejs"));
    const repository = `import assert from "node:assert"; import { test } from "node:test"; import { spawnSync } from "node:child_process";
      test("inside", () => { assert.equal(process.execPath, "${prefix}/bin/node");
        assert.equal(spawnSync("hello").stdout.toString().trim(), "by shebang"); });`;
    await writeFile(join(sandbox.workspace, "inside.test.mjs"), repository, { mode: 0o644 });
    const plan = await planFor([links, join(prefix, "bin")]);
    const byName = await sandbox.run("node --test inside.test.mjs", plan);
    assert.equal(byName.exitCode, 0, byName.stdout + byName.stderr);
    assert.match(byName.stdout, /pass 1/);
    const byLink = await sandbox.run("nodejs -p process.execPath", await planFor([links]));
    assert.equal(byLink.stdout, `${prefix}/bin/node\n`, byLink.stderr);
    // Their own file, and still nothing they can change.
    if (process.getuid?.() === 0) await chown(join(prefix, "bin/hello"), sandbox.identity.uid, sandbox.identity.gid);
    assert.match((await sandbox.run(`echo >> ${prefix}/bin/hello`, plan)).stderr, /Read-only file system/);
  });

  test("runs its tests with that Python", async (context) => {
    const system = await realpath("/usr/bin/python3").catch(() => undefined);
    const library = (await readdir("/usr/lib")).find((name) => /^python3\.\d+$/.test(name));
    if (system === undefined || library === undefined) {
      context.diagnostic("there is no Python here to make another one of");
      await assert.rejects(access("/usr/bin/python3"));
      return;
    }
    const prefix = join(root, "python-elsewhere");
    await mkdir(join(prefix, "bin"), { recursive: true });
    await mkdir(join(prefix, "lib"));
    await copyFile(system, join(prefix, "bin/python"));
    await chmod(join(prefix, "bin/python"), 0o755);
    await symlink(join("/usr/lib", library), join(prefix, "lib", library));
    const repository = `import sys, unittest
class Inside(unittest.TestCase):
    def test_prefix(self):
        self.assertEqual(sys.executable, "${prefix}/bin/python")
        self.assertEqual(sys.prefix, "${prefix}")
`;
    await writeFile(join(sandbox.workspace, "test_inside.py"), repository, { mode: 0o644 });
    const ran = await sandbox.run("python -m unittest -v test_inside", await planFor([join(prefix, "bin")]));
    assert.equal(ran.exitCode, 0, ran.stdout + ran.stderr);
    assert.match(ran.stderr, /Ran 1 test[\s\S]*OK/);
  });

  test("cannot run what was not mounted", async () => {
    const hidden = join(root, "hidden");
    await mkdir(join(hidden, "bin"), { recursive: true });
    await writeFile(join(hidden, "bin/tool"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
    assert.equal((await sandbox.run(`${hidden}/bin/tool`, await planFor([]))).exitCode, 127);
    assert.equal((await sandbox.run("tool", await planFor([join(hidden, "bin")]))).stdout, "ran\n");
  });
});

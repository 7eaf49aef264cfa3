import assert from "node:assert/strict";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type AttackedKernel, startAttackedKernel } from "./support/attacked-kernel.ts";
import { hostGit, makeRepository } from "./support/repository.ts";

const AS_AGENT = "git -c user.name=a -c user.email=a@b";
/** Makes a repository with one commit in the current directory. */
const MAKE = `git init -q . && ${AS_AGENT} commit -q --allow-empty -m x`;
const MONITOR = "git config core.fsmonitor 'touch ran;:'";

let at: AttackedKernel;
before(async () => {
  at = await startAttackedKernel();
});
after(() => at.remove());

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

describe("a nested repository that the index of the user's repository names", { timeout: 120_000 }, () => {
  async function repository(name: string): Promise<string> {
    const workspace = await at.makeWorkspace(`nested-${name}`);
    await makeRepository(workspace);
    await mkdir(join(workspace, "lib/deep"), { recursive: true });
    await at.own(workspace);
    return workspace;
  }
  /** The user looks at the repository, for which git starts a git in each submodule. */
  async function assertNothingRuns(workspace: string, ...places: readonly string[]): Promise<void> {
    await hostGit(workspace, "status");
    for (const place of places) assert.ok(!(await exists(join(workspace, place, "ran"))), "the agent's program ran");
  }

  test("the test would notice a program that runs", async () => {
    const workspace = await repository("control");
    const nested = join(workspace, "lib/deep");
    await makeRepository(nested);
    await hostGit(workspace, "add", "lib/deep");
    await hostGit(nested, "config", "core.fsmonitor", "touch ran;:");
    await hostGit(workspace, "status");
    assert.ok(await exists(join(nested, "ran")));
  });

  const VARIANTS: ReadonlyArray<readonly [name: string, add: string]> = [
    ["plain", "git add lib/deep"],
    ["compressed", "git add lib/deep && git update-index --index-version 4 --force-write-index"],
    ["split", "git add lib/deep && git update-index --split-index"],
  ];
  for (const [name, add] of VARIANTS) {
    test(`is quarantined if it runs a program: ${name} index`, async () => {
      const workspace = await repository(name);
      const session = await at.open(workspace);
      const command = `(cd lib/deep && ${MAKE}); ${add}; (cd lib/deep && ${MONITOR})`;
      assert.equal((await session.call("shell_exec", { command })).code, "UNDECLARED_EFFECT");
      assert.match(await hostGit(workspace, "ls-files", "--stage"), /^160000 .*lib\/deep$/m);
      await assertNothingRuns(workspace, "lib/deep");
    });
  }

  test("is quarantined behind a harmless one, and behind a file that points to it", async () => {
    const workspace = await repository("behind");
    const session = await at.open(workspace);
    const inner = `mkdir inner && cd inner && ${MAKE} && cd .. && git add inner && cd inner && ${MONITOR}`;
    const outer = `(cd lib/deep && ${MAKE}) && git add lib/deep && cd lib/deep && ${inner}`;
    assert.equal((await session.call("shell_exec", { command: outer })).code, "UNDECLARED_EFFECT");
    const far = `mkdir -p lib/far && cd lib/far && ${MAKE} && cd ../.. && git add lib/far && cd lib/far && ${MONITOR}`;
    const led = `${far} && mkdir -p ../a/b && mv .git ../a/b/c && echo 'gitdir: ../a/b/c' > .git`;
    assert.equal((await session.call("shell_exec", { command: led })).code, "UNDECLARED_EFFECT");
    await assertNothingRuns(workspace, "lib/deep/inner", "lib/far");
  });

  test("stays if it runs nothing, and gets no program later", async () => {
    const workspace = await repository("inert");
    const session = await at.open(workspace);
    const { exitCode, stderr } = await session.shell(`(cd lib/deep && ${MAKE}) && git add lib/deep`);
    assert.equal(exitCode, 0, stderr);
    const config = await readFile(join(workspace, "lib/deep/.git/config"), "utf8");
    await session.call("shell_exec", { command: `cd lib/deep; ${MONITOR}; echo x > .git/hooks/pre-commit` });
    assert.equal(await readFile(join(workspace, "lib/deep/.git/config"), "utf8"), config);
    assert.ok(!(await exists(join(workspace, "lib/deep/.git/hooks/pre-commit"))));
    await assertNothingRuns(workspace, "lib/deep");
  });
});

describe("a repository that a program creates in a directory of the root", { timeout: 120_000 }, () => {
  test("is quarantined if it runs a program, and stays otherwise", async () => {
    const workspace = await at.makeWorkspace("nested-root");
    await makeRepository(workspace);
    await at.own(workspace);
    const session = await at.open(workspace);
    const { exitCode, stderr } = await session.shell(`mkdir kept && cd kept && ${MAKE} && git config user.name a`);
    assert.equal(exitCode, 0, stderr);
    // The user clones another one meanwhile, with settings of the user's own.
    await makeRepository(join(workspace, "clone"));
    await hostGit(join(workspace, "clone"), "config", "core.fsmonitor", "touch ran;:");
    await at.own(workspace);
    await session.shell("true");
    const direct = `mkdir direct && cd direct && ${MAKE} && ${MONITOR}`;
    const led = `mkdir -p led far/away && cd led && ${MAKE} && ${MONITOR} && mv .git ../far/away/x && echo 'gitdir: ../far/away/x' > .git`;
    for (const command of [direct, led]) {
      assert.equal((await session.call("shell_exec", { command })).code, "UNDECLARED_EFFECT", command);
    }
    for (const place of ["direct", "led"]) {
      await hostGit(join(workspace, place), "status");
      assert.ok(!(await exists(join(workspace, place, "ran"))), "the agent's program ran");
    }
    for (const place of ["kept", "clone"]) assert.ok(await exists(join(workspace, place, ".git/HEAD")), place);
  });
});

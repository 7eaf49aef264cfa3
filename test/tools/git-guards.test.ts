import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { GIT_OPERATION_FACTS } from "@narthex/tools";
import { createKernel } from "narthex";
import { type GitKernel, openGitKernel, refusalOf } from "./git-kernel.ts";

let fixture: GitKernel;

before(async () => {
  fixture = await openGitKernel();
  await mkdir(join(fixture.workspace, "repository"));
  fixture.host("repository", "init", "-q", "-b", "main");
  await write("repository/file.txt", "one\n");
  fixture.host("repository", "add", ".");
  fixture.host("repository", "commit", "-q", "-m", "first");
  fixture.host(".", "clone", "-q", "--bare", "repository", "shared.git");
});
after(() => fixture.close());

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(fixture.workspace, path, ".."), { recursive: true });
  await writeFile(join(fixture.workspace, path), text);
  fixture.own();
}

describe("rejects arguments that would make git run programs or read elsewhere", () => {
  for (const [operation, ...args] of [
    ["STATUS", "-c", "core.fsmonitor=touch marker"],
    ["STATUS", "-ccore.fsmonitor=touch marker"],
    ["LOG", "-c", "alias.x=!touch marker"],
    ["FETCH", "-c", "core.sshCommand=touch marker"],
    ["FETCH", "--upload-pack=touch marker", "../shared.git"],
    ["FETCH", "--upload-pack", "touch marker", "../shared.git"],
    ["FETCH", "--upload-pa=touch marker", "../shared.git"],
    ["PULL", "--upload-pack=touch marker", "../shared.git"],
    ["CLONE", "-u", "touch marker", "../shared.git", "copy"],
    ["CLONE", "--upload-pack=touch marker", "../shared.git", "copy"],
    ["CLONE", "--config=core.fsmonitor=touch marker", "../shared.git", "copy"],
    ["CLONE", "--template=.", "../shared.git", "copy"],
    ["CLONE", "--separate-git-dir=x", "../shared.git", "copy"],
    ["CLONE", "--recurse-submodules", "../shared.git", "copy"],
    ["CLONE", "ext::sh -c touch% marker", "copy"],
    ["CLONE", "ext::sh"],
    ["CLONE", "fd::17"],
    ["FETCH", "ext::touch"],
    ["PULL", "evil::x"],
    ["REMOTE", "add", "x", "ext::touch"],
    ["REMOTE", "set-url", "x", "ext::touch"],
    ["PUSH", "--receive-pack=touch marker", "../shared.git"],
    ["PUSH", "--exec=touch marker", "../shared.git"],
    ["PUSH", "--exec", "touch marker", "../shared.git"],
    ["LOG", "--ext-diff", "-p"],
    ["LOG", "--textconv", "-p"],
    ["DIFF", "--ext-diff"],
    ["DIFF", "--textconv"],
    ["DIFF", "--no-index", "/etc/passwd", "/dev/null"],
    ["DIFF", "--output=marker"],
    ["DIFF", "/etc/passwd"],
    ["SHOW", "-O", "marker"],
    ["STATUS", "-C", "/"],
    ["STATUS", "--git-dir=/tmp"],
    ["STATUS", "--work-tree=/"],
    ["STATUS", "--exec-path=."],
    ["REBASE", "-x", "touch marker", "HEAD"],
    ["REBASE", "--exec=touch marker", "HEAD"],
    ["REBASE", "-i", "HEAD"],
    ["COMMIT", "-F", "/etc/passwd"],
    ["COMMIT", "--template=/etc/passwd"],
    ["COMMIT", "-S"],
    ["TAG", "-s", "x"],
    ["ADD", "-p"],
    ["ADD", "-i"],
    ["ADD", "-e"],
    ["BRANCH", "--edit-description"],
    ["MERGE", "-s", "evil", "x"],
    ["CHECKOUT", "--recurse-submodules"],
    ["STASH", "difftool"],
    ["REMOTE", "update"],
  ] as const) {
    it(`${operation} ${args.join(" ")}`, async () => {
      const listing = readdirSync(fixture.workspace).sort();
      assert.equal((await fixture.refusal(operation, args, "repository")).code, "INVALID_INPUT");
      assert.deepEqual(readdirSync(fixture.workspace).sort(), listing);
      assert.ok(!existsSync(join(fixture.workspace, "repository/marker")));
    });
  }

  it("an operation that does not exist", async () => {
    for (const operation of ["DIFFTOOL", "config", "CONFIG", "STATUS ", "constructor"]) {
      assert.equal((await fixture.refusal(operation)).code, "INVALID_INPUT", operation);
    }
  });

  it("a directory outside of the workspace, or a missing one", async () => {
    assert.equal((await fixture.refusal("STATUS", [], "/etc")).code, "PATH_ESCAPE");
    assert.equal((await fixture.refusal("STATUS", [], "../x")).code, "INVALID_INPUT");
    assert.equal((await fixture.refusal("STATUS", [], "nowhere")).code, "FILE_NOT_FOUND");
    const { code, message } = await fixture.refusal("STATUS", [], "");
    assert.equal(code, "EXECUTION_FAILED");
    assert.match(message, /not in a git repository/);
  });
});

describe("repositories outside the workspace", () => {
  it("on another machine cannot be reached, by address or by name", async () => {
    for (const [operation, ...args] of [
      ["CLONE", "https://example.org/x.git"],
      ["CLONE", "git@example.org:x.git"],
      ["FETCH", "ssh://example.org/x"],
      ["PULL", "http://127.0.0.1/x"],
      ["PUSH", "https://example.org/x", "main"],
    ] as const) {
      const { code, message } = await fixture.refusal(operation, args, operation === "CLONE" ? "" : "repository");
      assert.equal(code, "CAPABILITY_MISSING", operation);
      assert.match(message, operation === "PUSH" ? /lacks .*net_write example/ : /lacks .*net_read (?:example|127)/);
    }
    // A remote's address stands in the repository, so its host turns up when git runs.
    await fixture.git("REMOTE", ["add", "far", "https://example.org/x"], "repository");
    assert.equal((await fixture.refusal("FETCH", ["far"], "repository")).code, "NETWORK_BLOCKED");
    assert.equal((await fixture.refusal("PUSH", ["far", "main"], "repository")).code, "NETWORK_BLOCKED");
    await fixture.git("REMOTE", ["remove", "far"], "repository");
    assert.ok(!existsSync(join(fixture.workspace, "x")));
  });

  it("on this machine are rejected by their path", async () => {
    const outside = await mkdtemp(join(tmpdir(), "narthex-outside-"));
    try {
      for (const address of [outside, `file://${outside}`, "../../x"]) {
        assert.equal((await fixture.refusal("CLONE", [address, "copy"])).code, "PATH_ESCAPE", address);
      }
    } finally {
      await rm(outside, { recursive: true });
    }
  });
});

describe("a clone", () => {
  before(async () => {
    await write("repository/.github/workflows/test.yml", "on: push\n");
    fixture.host("repository", "add", ".");
    fixture.host("repository", "commit", "-q", "-m", "workflow");
    const { exitCode, stderr } = await fixture.git("CLONE", ["--sparse", "repository", "deep/inside/clone"]);
    assert.equal(exitCode, 0, stderr);
    await fixture.git("CLONE", ["repository", "deep/clone"]);
  });

  it("contains all of its source, including protected files", async () => {
    const path = join(fixture.workspace, "deep/clone/.github/workflows/test.yml");
    assert.equal(await readFile(path, "utf8"), "on: push\n");
  });

  for (const directory of ["deep/clone", "deep/inside/clone"]) {
    it(`keeps its configuration and hooks from commands: ${directory}`, async () => {
      const config = await readFile(join(fixture.workspace, directory, ".git/config"), "utf8");
      for (const command of [
        `git -C ${directory} config core.fsmonitor ./evil`,
        `echo '[core] fsmonitor = ./evil' >> ${directory}/.git/config`,
        `rm -f ${directory}/.git/config`,
        `mv ${directory}/.git ${directory}/aside`,
        `mv deep aside`,
      ]) {
        assert.notEqual((await fixture.shell(command)).exitCode, 0, command);
      }
      const { code, message } = refusalOf(
        (
          await fixture.session.call("shell_exec", {
            command: `mkdir -p ${directory}/.git/hooks && echo evil > ${directory}/.git/hooks/pre-commit`,
          })
        ).response,
      );
      assert.equal(code, "UNDECLARED_EFFECT");
      assert.match(message, /\.git\/hooks/);
      assert.ok(!existsSync(join(fixture.workspace, directory, ".git/hooks/pre-commit")));
      assert.equal(await readFile(join(fixture.workspace, directory, ".git/config"), "utf8"), config);
      // And git itself still works there.
      assert.equal((await fixture.git("BRANCH", ["other"], directory)).exitCode, 0);
    });
  }

  it("is not made over an existing path", async () => {
    fixture.host("deep/clone", "config", "some.setting", "kept");
    assert.notEqual((await fixture.git("CLONE", ["repository", "deep/clone"])).exitCode, 0);
    assert.equal(fixture.host("deep/clone", "config", "some.setting"), "kept\n");
    await mkdir(join(fixture.workspace, "deep/clone/below"));
    await write("deep/clone/below/file.txt", "x\n");
    assert.notEqual((await fixture.git("CLONE", ["../../repository", "below"], "deep/clone")).exitCode, 0);
    assert.equal(fixture.host("deep/clone", "config", "some.setting"), "kept\n");
  });
});

describe("protected paths", () => {
  it("are not changed by switching branches", async () => {
    fixture.host(".", "clone", "-q", "repository", "switching");
    fixture.host("switching", "checkout", "-q", "-b", "evil");
    await write("switching/.github/workflows/test.yml", "evil\n");
    await write("switching/.vscode/tasks.json", "evil\n");
    fixture.host("switching", "add", ".");
    fixture.host("switching", "commit", "-q", "-m", "evil");
    fixture.host("switching", "checkout", "-q", "main");
    const { code, message } = await fixture.refusal("CHECKOUT", ["evil"], "switching");
    assert.equal(code, "UNDECLARED_EFFECT", message);
    assert.ok(!existsSync(join(fixture.workspace, "switching/.vscode")));
    assert.equal(await readFile(join(fixture.workspace, "switching/.github/workflows/test.yml"), "utf8"), "on: push\n");
  });
});

describe("policy", () => {
  it("asks a person before PUSH and before work is discarded, and pushes nothing that was denied", async () => {
    fixture.approve = false;
    const asked = fixture.asked.length;
    const { code } = await fixture.refusal("PUSH", ["../shared.git", "main:refs/heads/denied"], "repository");
    fixture.approve = true;
    assert.equal(code, "APPROVAL_DENIED");
    assert.deepEqual(fixture.asked.slice(asked), ["git@1.0.0"]);
    assert.equal(fixture.host("shared.git", "branch", "--list", "denied"), "");
    assert.equal((await fixture.git("PUSH", ["../shared.git", "main:refs/heads/yes"], "repository")).exitCode, 0);
    assert.deepEqual(fixture.asked.slice(asked), ["git@1.0.0", "git@1.0.0"]);
    for (const operation of ["STATUS", "DIFF", "LOG", "SHOW", "BRANCH", "REMOTE", "TAG"]) {
      await fixture.git(operation, [], "repository");
    }
    await fixture.git("STASH", ["list"], "repository");
    assert.equal((await fixture.git("COMMIT", ["--allow-empty", "-m", "more"], "repository")).exitCode, 0);
    assert.deepEqual(fixture.asked.slice(asked), ["git@1.0.0", "git@1.0.0"]);
    await fixture.git("RESET", ["--hard"], "repository");
    assert.deepEqual(fixture.asked.slice(asked), ["git@1.0.0", "git@1.0.0", "git@1.0.0"]);
  });

  it("evaluates one action for each operation", async () => {
    const data = join(fixture.root, "strict");
    await mkdir(join(data, "policy"), { recursive: true, mode: 0o700 });
    await chmod(data, 0o700);
    const rule = '@id("diff") permit(principal, action == Action::"git_diff", resource);';
    await writeFile(join(data, "policy/only-diff.cedar"), rule, { mode: 0o600 });
    const strict = await createKernel({ data });
    try {
      const session = await strict.session({ workspace: fixture.workspace });
      for (const operation of Object.keys(GIT_OPERATION_FACTS)) {
        const args = operation === "CLONE" ? ["repository", "never"] : [];
        const { response } = await session.call("git", { operation, args, cwd: args.length > 0 ? "." : "repository" });
        assert.equal(refusalOf(response).code, operation === "DIFF" ? "success" : "NO_MATCHING_RULE", operation);
      }
    } finally {
      await strict.close();
    }
  });

  it("permits a lease's operations by name, and reading needs no capability to write", async () => {
    const capabilities = [
      { kind: "git", names: ["STATUS", "COMMIT"] },
      { kind: "fs_read", prefixes: [fixture.workspace] },
      { kind: "fs_write", prefixes: [join(fixture.workspace, "elsewhere")] },
    ] as const;
    const { kernel, workspace } = fixture;
    const lacking = await kernel.session({ workspace, lease: { capabilities } });
    const ask = async (operation: string): Promise<string> =>
      refusalOf((await lacking.call("git", { operation, cwd: "repository" })).response).code;
    assert.deepEqual(
      [await ask("STATUS"), await ask("LOG"), await ask("COMMIT")],
      ["success", "CAPABILITY_MISSING", "CAPABILITY_MISSING"],
    );
  });
});

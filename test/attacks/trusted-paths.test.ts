import assert from "node:assert/strict";
import { appendFile, chmod, lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PROTECTED_GROUPS } from "../../packages/host/src/trusted-paths/protected-names.ts";
import { sampled } from "../sampled.ts";
import { type AttackedKernel, startAttackedKernel } from "./support/attacked-kernel.ts";
import { hostGit, makeRepository } from "./support/repository.ts";

/** One path for each protected name, with a word for each star. */
const PATHS = PROTECTED_GROUPS.flatMap(({ entries }) => entries.flatMap(({ paths }) => paths)).map((path) =>
  path.replaceAll("*", "planted"),
);
/** The kernel's own process answers them one by one, and every writer is asked about each. */
const AT_ONCE = 16;

/** To set one aside takes a program longer than to write it: besides the root, some of them. */
const SOME = 40;

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

/** Paths that a file tool could write after all. */
async function written(workspace: string, paths: readonly string[]): Promise<string[]> {
  const session = await at.open(workspace);
  const allowed: string[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    const some = paths.slice(from, from + AT_ONCE);
    const answers = await Promise.all(some.map((path) => session.call("file_write", { path, content: "attack" })));
    allowed.push(...some.filter((_, index) => answers[index]?.code !== "NO_MATCHING_RULE"));
  }
  return allowed;
}

/** Has one program write all of these, and answers which of them are still there. */
async function planted(workspace: string, paths: readonly string[], cwd = "."): Promise<string[]> {
  await writeFile(join(workspace, "list.txt"), `${paths.join("\n")}\n`);
  await at.own(workspace);
  const plant = 'case "$p" in */*) mkdir -p "${p%/*}";; esac; echo attack > "$p"';
  const command = `while read -r p; do ${plant}; done < /workspace/list.txt; true`;
  const { code } = await (await at.open(workspace)).call("shell_exec", { command, cwd });
  assert.equal(code, "UNDECLARED_EFFECT");
  const left: string[] = [];
  for (const path of paths) if (await exists(join(workspace, cwd, path))) left.push(path);
  return left;
}

/** A link at the first part of every name, to a directory of its own. Answers the paths behind the links. */
async function linkNames(workspace: string): Promise<string[]> {
  const ends = new Map<string, string>();
  const behind = PATHS.map((path) => {
    const [first = "", ...rest] = path.split("/");
    const end = ends.get(first) ?? `behind/${ends.size}`;
    ends.set(first, end);
    // Of a repository, git itself must be able to write most.
    const inner = first === ".git" ? "config" : "inner";
    return [end, ...(rest.length === 0 ? [inner] : rest)].join("/");
  });
  for (const [name, end] of ends) await symlink(end, join(workspace, name));
  await mkdir(join(workspace, "behind"));
  await at.own(workspace);
  return behind;
}

describe("every protected name", { timeout: 240_000 }, () => {
  test("is denied to file tools at the root, below, in other case and below itself", async () => {
    const workspace = await at.makeWorkspace("names-tools");
    const variants = PATHS.flatMap((path) => [path, `deep/er/${path}`, path.toUpperCase(), `${path}/inner`]);
    assert.deepEqual(await written(workspace, variants), []);
    assert.deepEqual(await readdir(workspace), []);
  });

  test("is denied to file tools behind a link, by the link's target", async () => {
    const workspace = await at.makeWorkspace("names-linked");
    const behind = await linkNames(workspace);
    assert.deepEqual(await written(workspace, behind), []);
    assert.deepEqual(await readdir(join(workspace, "behind")), []);
    const session = await at.open(workspace);
    assert.equal((await session.call("file_write", { path: "behind/other", content: "x" })).status, "success");
  });

  test("cannot be created by a program: at the root, where it starts, in other case and behind a link", async () => {
    const workspace = await at.makeWorkspace("names-program");
    assert.deepEqual(await planted(workspace, PATHS), []);
    await mkdir(join(workspace, "sub/dir"), { recursive: true });
    const upper = PATHS.map((path) => path.toUpperCase());
    const below = upper.map((path, index) => (index % 2 === 0 ? path : (PATHS[index] ?? path)));
    assert.deepEqual(await planted(workspace, sampled(below, SOME), "sub/dir"), []);
    const linked = await at.makeWorkspace("names-program-linked");
    assert.deepEqual(await planted(linked, sampled(await linkNames(linked), SOME)), []);
  });

  test("is left unchanged by every writer if it already exists", async () => {
    const workspace = await at.makeWorkspace("names-there");
    for (const path of PATHS) {
      await mkdir(join(workspace, dirname(path)), { recursive: true });
      await writeFile(join(workspace, path), "user");
    }
    await writeFile(join(workspace, "list.txt"), `${PATHS.join("\n")}\n`);
    await at.own(workspace);
    const command = 'while read -r p; do echo attack > "$p"; rm -f "$p"; done < list.txt 2>/dev/null; true';
    const { status, code } = await (await at.open(workspace)).call("shell_exec", { command });
    assert.equal(status, "success", code);
    for (const path of PATHS) assert.equal((await lstat(join(workspace, path))).size, "user".length, path);
  });
});

/** A program of the agent's; where it ran, it leaves `ran` beside the repository. */
const PAYLOAD = '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/ran"\n';

describe("programs that git runs in a user's repository", { timeout: 240_000 }, () => {
  async function repository(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const workspace = await at.makeWorkspace(`git-${name}`);
    await makeRepository(workspace);
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(workspace, path, ".."), { recursive: true });
      await writeFile(join(workspace, path), content);
      await chmod(join(workspace, path), 0o755);
    }
    return workspace;
  }
  const configure = (workspace: string, text: string): Promise<void> =>
    appendFile(join(workspace, ".git/config"), text);
  /** The user works on, and nothing of the agent's runs. */
  async function assertNothingRuns(workspace: string): Promise<void> {
    await hostGit(workspace, "status");
    await hostGit(workspace, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
    assert.ok(!(await exists(join(workspace, "ran"))), "the agent's program ran");
  }

  test("the test would notice a running hook", async () => {
    const workspace = await repository("control", { ".githooks/pre-commit": PAYLOAD });
    await configure(workspace, "[core]\n\thooksPath = .githooks ; shared\n");
    await hostGit(workspace, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
    assert.ok(await exists(join(workspace, "ran")));
  });

  const NAMED: ReadonlyArray<readonly [name: string, config: string, path: string]> = [
    ["hooksPath with a comment", "[core]\n\thooksPath = .githooks ; shared\n", ".githooks/pre-commit"],
    ["hooksPath in quotes", '[Core] HOOKSPATH = "tools/my hooks" # x\n', "tools/my hooks/pre-commit"],
    ["hooksPath by its absolute path", "[core]\n\thooksPath = WORKSPACE/tools/hooks\n", "tools/hooks/pre-commit"],
    ["hooksPath that is the work tree itself", "[core]\n\thooksPath = .\n", "pre-commit"],
    ["an included file", "[include]\n\tpath = ../dev/gitconfig\n", "dev/gitconfig"],
    ["a file that is included elsewhere", '[includeIf "onbranch:other"]\n\tpath = ../dev/other\n', "dev/other"],
    ["a monitor", "[core]\n\tfsmonitor = ./tools/monitor --all\n", "tools/monitor"],
    ["a filter", '[filter "x"]\n\tclean = python3 scripts/clean.py %f\n', "scripts/clean.py"],
  ];
  test("cannot be changed by a tool or program through the files that its configuration names", async () => {
    for (const [name, config, path] of NAMED) {
      const workspace = await repository(name.replaceAll(" ", "-"), { [path]: "#!/bin/sh\n" });
      await configure(workspace, config.replace("WORKSPACE", workspace));
      await at.own(workspace);
      const session = await at.open(workspace);
      for (const [tool, input] of [
        ["file_write", { path, content: PAYLOAD }],
        ["file_edit", { path, old_content: "sh", new_content: "sh -x" }],
        ["file_delete", { path }],
        ["file_move", { source: path, destination: "elsewhere" }],
        ["file_move", { source: "file", destination: path, overwrite: true }],
      ] as const) {
        assert.equal((await session.call(tool, input)).status, "denied", `${tool}: ${name}`);
      }
      await session.call("shell_exec", { command: `echo attack > '${path}'; rm -f '${path}'; mv '${path}' x` });
      assert.equal(await readFile(join(workspace, path), "utf8"), "#!/bin/sh\n", name);
      assert.equal((await session.call("file_write", { path: "src/a", content: "x" })).status, "success", name);
    }
  });

  test("cannot be added by a tool or program as a missing hooks directory", async () => {
    const workspace = await repository("absent");
    await configure(workspace, "[core]\n\thooksPath = .githooks ; shared\n");
    await at.own(workspace);
    const session = await at.open(workspace);
    const write = await session.call("file_write", { path: ".githooks/pre-commit", content: PAYLOAD });
    assert.equal(write.status, "denied");
    const command = `mkdir .githooks; printf '${PAYLOAD.replaceAll("\n", "\\n")}' > .githooks/pre-commit; chmod +x .githooks/*`;
    assert.equal((await session.call("shell_exec", { command })).code, "UNDECLARED_EFFECT");
    await assertNothingRuns(workspace);
  });

  test("include a setting that the user adds while the agent works", async () => {
    const workspace = await repository("later", { ".githooks/pre-commit": "#!/bin/sh\n" });
    await at.own(workspace);
    const session = await at.open(workspace);
    const input = { path: ".githooks/pre-commit", content: PAYLOAD };
    assert.equal((await session.call("file_write", { ...input, content: "#!/bin/sh\n" })).status, "success");
    await configure(workspace, "[core]\n\thooksPath = .githooks\n");
    assert.equal((await session.call("file_write", input)).status, "denied");
  });

  test("stay unchanged if a hook is a link to a file", async () => {
    const workspace = await repository("linked-hook", { "scripts/check.sh": "#!/bin/sh\n" });
    await symlink("../../scripts/check.sh", join(workspace, ".git/hooks/pre-commit"));
    await at.own(workspace);
    const session = await at.open(workspace);
    const write = await session.call("file_write", { path: "scripts/check.sh", content: PAYLOAD });
    assert.equal(write.status, "denied");
    await session.call("shell_exec", { command: "echo touch ran >> scripts/check.sh" });
    await assertNothingRuns(workspace);
  });

  test("stay unchanged in a repository behind a link", async () => {
    const workspace = await repository("linked");
    await rename(join(workspace, ".git"), join(workspace, "meta"));
    await symlink("meta", join(workspace, "step"));
    await symlink("step", join(workspace, ".git"));
    await at.own(workspace);
    const session = await at.open(workspace);
    for (const path of ["meta/config", "meta/hooks/pre-commit", "step/config"]) {
      assert.equal((await session.call("file_write", { path, content: "x" })).status, "denied", path);
    }
    const command = `printf '[core]\\n fsmonitor = touch ran;:\\n' >> meta/config; rm step; mkdir step`;
    await session.call("shell_exec", { command });
    assert.equal(await hostGit(workspace, "config", "core.fsmonitor"), "");
    await assertNothingRuns(workspace);
  });

  test("stay unchanged behind links at protected names: to another link, to nothing yet, out of the workspace", async () => {
    const workspace = await at.makeWorkspace("links");
    await mkdir(join(workspace, "cfg/claude"), { recursive: true });
    await symlink("step", join(workspace, ".claude"));
    await symlink("cfg/claude", join(workspace, "step"));
    await symlink("cfg/mcp.json", join(workspace, ".mcp.json"));
    await symlink(at.outside, join(workspace, ".vscode"));
    await symlink(".", join(workspace, "here"));
    await at.own(workspace);
    const session = await at.open(workspace);
    for (const path of [
      "cfg/claude/settings.json",
      "here/cfg/claude/settings.json",
      "here/.claude/settings.json",
      "cfg/mcp.json",
      "CFG/MCP.json",
      "step",
    ]) {
      assert.notEqual((await session.call("file_write", { path, content: "x" })).status, "success", path);
    }
    assert.equal((await session.call("file_write", { path: "cfg/plain", content: "x" })).status, "success");
    const command = "echo x > cfg/claude/settings.json; echo x > cfg/mcp.json; echo x > cfg/other; ln -sfn cfg step";
    assert.equal((await session.call("shell_exec", { command })).code, "UNDECLARED_EFFECT");
    assert.deepEqual((await readdir(join(workspace, "cfg"))).sort(), ["claude", "other", "plain"]);
    assert.deepEqual(await readdir(join(workspace, "cfg/claude")), []);
  });

  test("are not quarantined because of a configuration or link that a program creates", async () => {
    const workspace = await at.makeWorkspace("framed");
    await mkdir(join(workspace, "src"));
    await at.own(workspace);
    const command = "git init -q; git config core.hooksPath src; ln -s src .claude; ln -s src .vscode";
    assert.equal((await (await at.open(workspace)).call("shell_exec", { command })).code, "UNDECLARED_EFFECT");
    assert.deepEqual((await readdir(workspace)).filter((name) => !name.startsWith(".narthex")).sort(), ["src"]);
  });
});

describe("a directory that is a repository only by its content", { timeout: 240_000 }, () => {
  const CONFIG = '[core]\n\tbare = false\n\tworktree = "."\n\tfsmonitor = "touch ran;:"\n';
  const PARTS: ReadonlyArray<readonly [path: string, content: string]> = [
    ["config", CONFIG],
    ["objects/x", "x"],
    ["refs/heads/x", ""],
    ["HEAD", "ref: refs/heads/main\n"],
  ];
  /** The user looks around, and nothing of the agent's runs. */
  async function assertNoRepository(directory: string): Promise<void> {
    await hostGit(directory, "status");
    assert.ok(!(await exists(join(directory, "ran"))), "the agent's program ran");
  }

  test("cannot be completed by file tools, in any order, in any case, or by two concurrent calls", async () => {
    const workspace = await at.makeWorkspace("shape-tools");
    const session = await at.open(workspace);
    const write = (path: string, content: string) => session.call("file_write", { path, content });
    for (const [index] of PARTS.entries()) {
      const order = [...PARTS.slice(index), ...PARTS.slice(0, index)];
      const ends: string[] = [];
      for (const [path, content] of order) ends.push((await write(`order-${index}/${path}`, content)).status);
      assert.ok(ends.includes("denied"), `${index}: ${ends.join(" ")}`);
      await assertNoRepository(join(workspace, `order-${index}`));
    }
    assert.equal((await write("head/HEAD", "ref: refs/heads/main\n")).status, "success");
    assert.equal((await write("head/commondir", "../order-0")).status, "denied");
    for (const path of ["parts/head/x", "parts/objects/x", "parts/refs/x", "parts/config"]) {
      assert.equal((await write(path, "x")).status, "success", `a directory is no HEAD: ${path}`);
    }
    for (const [path, content] of PARTS.slice(0, 3)) await write(path, content);
    assert.equal((await write("head2", "ref: refs/heads/main\n")).status, "success");
    assert.equal((await session.call("file_move", { source: "head2", destination: "HEAD" })).status, "denied");
    assert.equal((await write("Head", "ref: refs/heads/main\n")).status, "denied");
    await assertNoRepository(workspace);
    await write("race/objects/x", "x");
    const ends = await Promise.all([write("race/HEAD", "ref: refs/heads/main\n"), write("race/refs/x", "x")]);
    assert.ok(ends.some(({ status }) => status === "denied"));
    assert.equal((await write("config/app.yml", "x")).status, "error", "a file is in its way, nothing else");
  });

  test("that exists already blocks no work except on the files that git runs", async () => {
    const workspace = await at.makeWorkspace("shape-there");
    await hostGit(workspace, "init", "-q", "--bare", join(workspace, "fixture.git"));
    await at.own(workspace);
    const session = await at.open(workspace);
    for (const path of ["fixture.git/config", "fixture.git/hooks/post-update", "fixture.git/info/attributes"]) {
      assert.equal((await session.call("file_write", { path, content: "x" })).status, "denied", path);
    }
    const { exitCode, stderr } = await session.shell(
      "git --git-dir=fixture.git symbolic-ref HEAD refs/heads/other && git init -q --bare made.git",
    );
    assert.equal(exitCode, 0, stderr);
    assert.ok(await exists(join(workspace, "made.git/HEAD")), "a repository that runs nothing stays");
    const attack = "echo '[core] pager = ./evil' >> fixture.git/config; echo x > fixture.git/hooks/post-update";
    await session.call("shell_exec", { command: attack });
    assert.equal(await hostGit(join(workspace, "fixture.git"), "config", "core.pager"), "");
    assert.ok(!(await exists(join(workspace, "fixture.git/hooks/post-update"))));
  });

  test("is quarantined if a program creates one that runs a program: at the root, in its directories", async () => {
    const workspace = await at.makeWorkspace("shape-program");
    await mkdir(join(workspace, "config"));
    await mkdir(join(workspace, "docs"));
    await at.own(workspace);
    const session = await at.open(workspace);
    const make = `mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD; printf '${CONFIG.replaceAll("\n", "\\n")}' > config`;
    assert.equal((await session.call("shell_exec", { command: `cd docs; ${make}` })).code, "UNDECLARED_EFFECT");
    await assertNoRepository(join(workspace, "docs"));
    assert.equal((await session.call("shell_exec", { command: make })).code, "UNDECLARED_EFFECT");
    assert.ok(await exists(join(workspace, "config")), "the user's own directory stays");
    assert.ok(!(await exists(join(workspace, "HEAD"))));
    const common = "mkdir far; cd far; echo 'ref: refs/heads/main' > HEAD; echo ../docs > commondir";
    assert.equal((await session.call("shell_exec", { command: common })).code, "UNDECLARED_EFFECT");
    await assertNoRepository(join(workspace, "far"));
  });
});

describe("a paused rebase", { timeout: 240_000 }, () => {
  async function branches(name: string): Promise<string> {
    const workspace = await at.makeWorkspace(`rebase-${name}`);
    await makeRepository(workspace);
    await hostGit(workspace, "config", "user.name", "a");
    await hostGit(workspace, "config", "user.email", "a@b");
    await hostGit(workspace, "checkout", "-q", "-b", "topic");
    await writeFile(join(workspace, "file"), "topic\n");
    await hostGit(workspace, "commit", "-q", "-a", "-m", "topic");
    await hostGit(workspace, "checkout", "-q", "-b", "base", "HEAD~1");
    await writeFile(join(workspace, "file"), "base\n");
    await hostGit(workspace, "commit", "-q", "-a", "-m", "base");
    await hostGit(workspace, "checkout", "-q", "topic");
    await at.own(workspace);
    return workspace;
  }

  test("is quarantined if it has a line that runs a program, whether forged or started and changed", async () => {
    const workspace = await branches("exec");
    const session = await at.open(workspace);
    const made = `git rebase base; echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo`;
    assert.equal((await session.call("shell_exec", { command: made })).code, "UNDECLARED_EFFECT");
    assert.ok(!(await exists(join(workspace, ".git/rebase-merge"))));
    await hostGit(workspace, "add", "file");
    await hostGit(workspace, "rebase", "--continue");
    assert.ok(!(await exists(join(workspace, "ran"))), "the agent's program ran");
  });

  test("can be stopped and continued by a program if it only picks commits", async () => {
    const workspace = await branches("picks");
    const session = await at.open(workspace);
    await session.shell("git rebase base");
    assert.ok(await exists(join(workspace, ".git/rebase-merge")), "the rebase was not kept");
    const { stderr } = await session.shell(
      "echo both > file; git add file; GIT_EDITOR=true git -c user.name=a -c user.email=a@b rebase --continue",
    );
    assert.ok(!(await exists(join(workspace, ".git/rebase-merge"))), stderr);
    assert.equal(await hostGit(workspace, "log", "-1", "--format=%s", "topic"), "topic");
  });

  test("of the user with such a line is changed by no program", async () => {
    const workspace = await branches("own");
    await hostGit(workspace, "rebase", "-x", "true", "base");
    const list = join(workspace, ".git/rebase-merge/git-rebase-todo");
    const before = await readFile(list, "utf8");
    assert.match(before, /^exec true/m);
    await at.own(workspace);
    const session = await at.open(workspace);
    await session.call("shell_exec", { command: "echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo" });
    assert.equal(await readFile(list, "utf8"), before);
  });
});

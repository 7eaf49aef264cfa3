import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { create, KernelService, ToolRequestSchema } from "@narthex/contracts";
import { type GitKernel, openGitKernel } from "./git-kernel.ts";

let fixture: GitKernel;
let number = 0;

before(async () => {
  fixture = await openGitKernel();
});
after(() => fixture.close());

/** A new repository in the workspace, with one commit of `file.txt`. */
async function repository(): Promise<{ name: string; write(file: string, text: string): Promise<void> }> {
  const name = `repository-${++number}`;
  const directory = join(fixture.workspace, name);
  await mkdir(directory);
  fixture.host(name, "init", "-q", "-b", "main");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(join(directory, file, ".."), { recursive: true });
    await writeFile(join(directory, file), text);
    fixture.own();
  };
  await write("file.txt", "one\n");
  fixture.host(name, "add", ".");
  fixture.host(name, "commit", "-q", "-m", "first");
  return { name, write };
}

/** A commit of one file on a branch of its own, which starts at main. */
async function branch(name: string, other: string, file: string, text: string): Promise<void> {
  fixture.host(name, "checkout", "-q", "-b", other, "main");
  await writeFile(join(fixture.workspace, name, file), text);
  fixture.host(name, "add", ".");
  fixture.host(name, "commit", "-q", "-m", other);
  fixture.host(name, "checkout", "-q", "main");
}

describe("git", () => {
  it("STATUS shows changes, and leaves the index unchanged", async () => {
    const { name, write } = await repository();
    await write("file.txt", "two\n");
    await write("new.txt", "new\n");
    const index = await readFile(join(fixture.workspace, name, ".git/index"));
    for (const operation of ["STATUS", "status"]) {
      const { exitCode, stdout } = await fixture.git(operation, ["--porcelain"], name);
      assert.deepEqual([exitCode, stdout], [0, " M file.txt\n?? new.txt\n"]);
    }
    assert.deepEqual(await readFile(join(fixture.workspace, name, ".git/index")), index);
  });

  it("DIFF shows the changed lines", async () => {
    const { name, write } = await repository();
    await write("file.txt", "two\n");
    const { stdout } = await fixture.git("DIFF", [], name);
    assert.match(stdout, /^-one\n\+two$/m);
  });

  it("LOG and SHOW print commits", async () => {
    const { name } = await repository();
    assert.equal((await fixture.git("LOG", ["--format=%an %s"], name)).stdout, "ann first\n");
    assert.match((await fixture.git("SHOW", ["--stat", "HEAD"], name)).stdout, /first[^]*file\.txt \| 1 \+/);
  });

  it("ADD and COMMIT use a neutral author where the repository configures none", async () => {
    const { name, write } = await repository();
    await write("new.txt", "new\n");
    assert.equal((await fixture.git("ADD", ["new.txt"], name)).exitCode, 0);
    assert.match((await fixture.git("COMMIT", ["-m", "second"], name)).stdout, /second\n 1 file changed/);
    assert.equal(
      fixture.host(name, "log", "-1", "--format=%an <%ae> %cn <%ce> %s"),
      "Narthex agent <agent@narthex.invalid> Narthex agent <agent@narthex.invalid> second\n",
    );
  });

  it("takes arguments literally, without any shell", async () => {
    const { name } = await repository();
    const message = "$(touch marker) `touch marker` ; touch marker & \"'\\ *\n\n~ > marker";
    assert.equal((await fixture.git("COMMIT", ["--allow-empty", "-m", message], name)).exitCode, 0);
    assert.equal(fixture.host(name, "log", "-1", "--format=%B"), `${message}\n\n`);
    assert.equal((await fixture.git("STATUS", ["--porcelain"], name)).stdout, "");
  });

  it("COMMIT uses the author from the repository's configuration", async () => {
    const { name, write } = await repository();
    fixture.host(name, "config", "user.name", "bob");
    fixture.host(name, "config", "user.email", "bob@example.org");
    await write("file.txt", "two\n");
    await fixture.git("COMMIT", ["-am", "second"], name);
    assert.equal(fixture.host(name, "log", "-1", "--format=%an %ae"), "bob bob@example.org\n");
  });

  it("BRANCH makes, tracks, renames and deletes branches, and keeps other programs' notes with them", async () => {
    const { name } = await repository();
    await fixture.git("BRANCH", ["--track", "other", "main"], name);
    assert.equal(fixture.host(name, "config", "branch.other.merge"), "refs/heads/main\n");
    fixture.host(name, "config", "branch.other.some-editor-note", "5");
    assert.equal((await fixture.git("BRANCH", ["-m", "other", "renamed"], name)).exitCode, 0);
    assert.equal(fixture.host(name, "config", "branch.renamed.some-editor-note"), "5\n");
    assert.equal((await fixture.git("BRANCH", ["-D", "renamed"], name)).exitCode, 0);
    assert.equal(fixture.host(name, "branch", "--format=%(refname:short)"), "main\n");
  });

  it("CHECKOUT changes files and branch", async () => {
    const { name } = await repository();
    await branch(name, "other", "file.txt", "other\n");
    assert.equal((await fixture.git("CHECKOUT", ["other"], name)).exitCode, 0);
    assert.equal(await readFile(join(fixture.workspace, name, "file.txt"), "utf8"), "other\n");
    assert.equal((await fixture.git("CHECKOUT", ["-b", "third"], name)).exitCode, 0);
    assert.equal(fixture.host(name, "branch", "--show-current"), "third\n");
  });

  it("MERGE joins branches, and a conflict is a result", async () => {
    const { name } = await repository();
    await branch(name, "other", "more.txt", "more\n");
    await branch(name, "clash", "file.txt", "clash\n");
    assert.equal((await fixture.git("MERGE", ["--no-ff", "-m", "joined", "other"], name)).exitCode, 0);
    assert.match(fixture.host(name, "log", "-1", "--format=%s %P"), /^joined \w+ \w+\n$/);
    await appendFile(join(fixture.workspace, name, "file.txt"), "two\n");
    fixture.host(name, "commit", "-qam", "two");
    const { exitCode, stdout } = await fixture.git("MERGE", ["clash"], name);
    assert.equal(exitCode, 1);
    assert.match(stdout, /CONFLICT/);
    assert.equal((await fixture.git("MERGE", ["--abort"], name)).exitCode, 0);
  });

  it("REBASE moves commits, and stops and continues at a conflict", async () => {
    const { name, write } = await repository();
    await branch(name, "other", "file.txt", "other\n");
    await write("file.txt", "main\n");
    fixture.host(name, "commit", "-qam", "main");
    fixture.host(name, "checkout", "-q", "other");
    assert.equal((await fixture.git("REBASE", ["main"], name)).exitCode, 1);
    await write("file.txt", "both\n");
    await fixture.git("ADD", ["file.txt"], name);
    const { exitCode, stderr } = await fixture.git("REBASE", ["--continue"], name);
    assert.equal(exitCode, 0, stderr);
    assert.equal(fixture.host(name, "log", "--format=%s"), "other\nmain\nfirst\n");
  });

  it("RESET restores, STASH sets changes aside, TAG names commits", async () => {
    const { name, write } = await repository();
    await write("file.txt", "two\n");
    assert.equal((await fixture.git("STASH", [], name)).exitCode, 0);
    assert.equal(await readFile(join(fixture.workspace, name, "file.txt"), "utf8"), "one\n");
    assert.equal((await fixture.git("STASH", ["pop"], name)).exitCode, 0);
    assert.equal(await readFile(join(fixture.workspace, name, "file.txt"), "utf8"), "two\n");
    assert.equal((await fixture.git("RESET", ["--hard"], name)).exitCode, 0);
    assert.equal(await readFile(join(fixture.workspace, name, "file.txt"), "utf8"), "one\n");
    assert.equal((await fixture.git("TAG", ["-a", "-m", "first release", "v1"], name)).exitCode, 0);
    assert.equal(fixture.host(name, "tag", "-n"), "v1              first release\n");
  });

  it("REMOTE adds, renames and removes remotes", async () => {
    const { name } = await repository();
    await fixture.git("REMOTE", ["add", "origin", "https://example.org/x"], name);
    assert.equal(fixture.host(name, "remote", "get-url", "origin"), "https://example.org/x\n");
    fixture.host(name, "config", "remote.origin.prune", "true");
    await fixture.git("REMOTE", ["rename", "origin", "upstream"], name);
    assert.equal(fixture.host(name, "config", "remote.upstream.prune"), "true\n");
    assert.equal((await fixture.git("REMOTE", ["remove", "upstream"], name)).exitCode, 0);
    assert.equal(fixture.host(name, "remote"), "");
  });

  it("CLONE, FETCH, PULL and PUSH work between repositories of the workspace", async () => {
    const { name, write } = await repository();
    const { workspace } = fixture;
    assert.equal((await fixture.git("CLONE", ["--bare", name, "shared.git"])).exitCode, 0);
    assert.equal((await fixture.git("CLONE", ["shared.git", "deep/copy"])).exitCode, 0);
    assert.equal(await readFile(join(workspace, "deep/copy/file.txt"), "utf8"), "one\n");
    assert.equal((await fixture.git("CLONE", [`file://${workspace}/shared.git`, "second"])).exitCode, 0);
    await write("../second/file.txt", "two\n");
    await fixture.git("COMMIT", ["-am", "two"], "second");
    const pushed = await fixture.git("PUSH", ["-u", "origin", "main"], "second");
    assert.equal(pushed.exitCode, 0, pushed.stderr);
    const fetched = await fixture.git("FETCH", ["--all"], "deep/copy");
    assert.match(fetched.stderr, /main +-> origin\/main/);
    assert.equal((await fixture.git("PULL", ["--ff-only"], "deep/copy")).exitCode, 0);
    assert.equal(await readFile(join(workspace, "deep/copy/file.txt"), "utf8"), "two\n");
  });

  it("works in a directory of a repository that is not the workspace's root, and gives paths of files", async () => {
    const { name, write } = await repository();
    await write("inner/deep/file.txt", "x\n");
    const { stdout } = await fixture.git("STATUS", ["--porcelain", "--", "."], `${name}/inner/deep`);
    assert.equal(stdout, "?? inner/deep/\n");
    assert.equal((await fixture.git("ADD", ["."], `${name}/inner/deep`)).exitCode, 0);
    assert.equal(fixture.host(name, "diff", "--cached", "--name-only"), "inner/deep/file.txt\n");
  });

  it("works in directories named with shell characters, with settings that look like the output of the inspection", async () => {
    const { name, write } = await repository();
    const inner = "it's $(touch marker); `touch marker` \"\\";
    await write(`${inner}/file.txt`, "x\n");
    fixture.host(name, "config", "user.name", "ann\n 0 0 0 0\n 0 /tmp/where.out\n 0 total\n");
    fixture.host(name, "config", "filter.trap.clean", "touch marker");
    await write(".gitattributes", "* filter=trap\n");
    assert.equal((await fixture.git("ADD", ["."], `${name}/${inner}`)).exitCode, 0);
    assert.equal((await fixture.git("COMMIT", ["-m", "odd"], `${name}/${inner}`)).exitCode, 0);
    assert.deepEqual(fixture.host(name, "ls-tree", "-rz", "--name-only", "HEAD").split("\0").slice(0, -1), [
      "file.txt",
      `${inner}/file.txt`,
    ]);
    assert.equal(existsSync(join(fixture.workspace, name, "marker")), false);
  });

  it("rejects configuration that is too large, with the reason", async () => {
    const { name } = await repository();
    const lines = Array.from({ length: 15 }, (_, index) => `\tk${index} = ${"v".repeat(100_000)}\n`);
    await appendFile(join(fixture.workspace, name, ".git/config"), `[x]\n${lines.join("")}`);
    for (const operation of ["STATUS", "BRANCH"]) {
      assert.match((await fixture.refusal(operation, [], name)).message, /configuration of more than \d+ bytes/);
    }
  });

  it("works in a worktree that has the same path outside and inside the sandbox", async () => {
    const { name, write } = await repository();
    fixture.host(name, "worktree", "add", "-q", "-b", "side", `../${name}-side`);
    await write(`../${name}-side/side.txt`, "side\n");
    assert.equal((await fixture.git("STATUS", ["--porcelain"], `${name}-side`)).stdout, "?? side.txt\n");
    await fixture.git("ADD", ["."], `${name}-side`);
    assert.equal((await fixture.git("COMMIT", ["-m", "side"], `${name}-side`)).exitCode, 0);
    assert.equal(fixture.host(name, "log", "-1", "--format=%s", "side"), "side\n");
  });

  it("works in a submodule, and in its parent", async () => {
    const [{ name }, inner] = [await repository(), await repository()];
    fixture.host(name, "submodule", "--quiet", "add", `../${inner.name}`, "sub");
    fixture.host(name, "commit", "-qm", "with a submodule");
    await inner.write(`../${name}/sub/file.txt`, "two\n");
    assert.equal((await fixture.git("STATUS", ["--porcelain"], `${name}/sub`)).stdout, " M file.txt\n");
    assert.equal((await fixture.git("COMMIT", ["-am", "inner"], `${name}/sub`)).exitCode, 0);
    assert.equal((await fixture.git("ADD", ["sub"], name)).exitCode, 0);
    assert.equal((await fixture.git("STATUS", ["--porcelain"], name)).stdout, "M  sub\n");
    assert.equal((await fixture.git("COMMIT", ["-m", "outer"], name)).exitCode, 0);
  });

  it("a failure of git is a result with its output", async () => {
    const { name } = await repository();
    const { exitCode, stderr } = await fixture.git("CHECKOUT", ["nowhere"], name);
    assert.equal(exitCode, 1);
    assert.match(stderr, /pathspec 'nowhere' did not match/);
  });

  it("long output is cut, and can be read in full by its hash", async () => {
    const { name } = await repository();
    // As long as one argument can be.
    const lines = Array.from({ length: 600 }, (_, at) => `${at} ${"x".repeat(200)}`).join("\n");
    for (let at = 0; at < 3; at++) fixture.host(name, "commit", "-q", "--allow-empty", "-m", `${at}\n\n${lines}`);
    const { raw, stdout } = await fixture.git("LOG", [], name);
    const { cut, size, hash } = raw["stdout"] as { cut: boolean; size: number; hash: string };
    assert.deepEqual([cut, stdout.length], [true, 256 * 1024]);
    assert.ok(size > 300_000);
    const end = await fixture.session.call("result_read", { hash, offset: size - 6, limit: 6 });
    assert.equal(Buffer.from(end.raw as Uint8Array).toString(), "first\n");
  });
});

describe("the wire's git_op", () => {
  it("equals its JSON form", async () => {
    const { name } = await repository();
    const nodeOptions = { socketPath: fixture.kernel.sockets.services };
    const transport = createConnectTransport({ baseUrl: "http://localhost", httpVersion: "1.1", nodeOptions });
    const { result } = await createClient(KernelService, transport).call(
      create(ToolRequestSchema, {
        requestId: "typed",
        sessionToken: fixture.session.token,
        tool: { case: "gitOp", value: { operation: "LOG", args: ["--format=%s"], cwd: name } },
      }),
    );
    assert.ok(result.case === "success", result.case);
    const typed: unknown = JSON.parse(Buffer.from(result.value.inlineResult).toString());
    assert.deepEqual(typed, (await fixture.git("LOG", ["--format=%s"], name)).raw);
  });
});

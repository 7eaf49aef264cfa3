import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { HostileKernel } from "./hostile-repository-kernel.ts";

let kernel: HostileKernel;
before(async () => {
  kernel = await HostileKernel.open();
});
after(() => kernel.close());

const RECEIVING_HOOKS = ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"];

describe("a hostile remote repository", () => {
  for (const hook of RECEIVING_HOOKS) {
    it(`cannot have its hook ${hook} run by a push`, () =>
      kernel.visit(async (repository, session) => {
        repository.git("clone", "-q", "--bare", ".", "../other.git");
        repository.program(join(repository.root, "other.git/hooks", hook));
        repository.plain(["push", "-q", "../other.git", "main:refs/heads/plain"]);
        assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
        const outcome = await kernel.git(repository, session, "PUSH", ["../other.git", "main:refs/heads/new"]);
        assert.equal(repository.sprung(), false, "the hook was run");
        assert.deepEqual([outcome.code, outcome.exitCode], ["success", 0], outcome.message);
        const pushed = repository.git("--git-dir=../other.git", "rev-parse", "refs/heads/new");
        assert.equal(pushed, repository.git("rev-parse", "main"));
      }));
  }

  it("cannot have its checked-out files changed by a push, or its filters and monitor run", () =>
    kernel.visit(async (repository, session) => {
      repository.git("clone", "-q", ".", "../other");
      repository.git("commit", "-q", "--allow-empty", "-m", "more");
      repository.write("file.txt", "two\n");
      repository.git("commit", "-qam", "two");
      const settings = `[receive]\n\tdenyCurrentBranch = updateInstead\n[core]\n\tfsmonitor = ${repository.trap}\n[filter "x"]\n\tsmudge = ${repository.trap}\n`;
      appendFileSync(join(repository.root, "other/.git/config"), settings);
      writeFileSync(join(repository.root, "other/.git/info/attributes"), "*.txt filter=x\n");
      const outcome = await kernel.git(repository, session, "PUSH", ["../other", "main"]);
      assert.equal(repository.sprung(), false, "a program was run");
      assert.notEqual(outcome.exitCode, 0);
      assert.equal(readFileSync(join(repository.root, "other/file.txt"), "utf8"), "one\n");
      repository.plain(["push", "-q", "../other", "main"]);
      assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
    }));

  it("cannot have a remote's program run, by name or by `--all`", () =>
    kernel.visit(async (repository, session) => {
      repository.git("clone", "-q", "--bare", ".", "../other.git");
      repository.config("remote.origin.url", "../other.git");
      repository.config("remote.origin.uploadpack", repository.mute);
      repository.plain(["fetch", "--all"]);
      assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
      for (const args of [["origin"], ["--all"], []]) {
        const { code, message } = await kernel.git(repository, session, "FETCH", args);
        assert.equal(repository.sprung(), false, "the program was run");
        assert.equal(code, "EXECUTION_FAILED");
        assert.match(message, /remote\.origin\.uploadpack/);
      }
    }));

  it("with missing objects cannot have its own remote's program run to fetch them", (context) =>
    kernel.visit(async (repository, session) => {
      repository.git("clone", "-q", ".", "../other");
      const blob = repository.git("rev-parse", "HEAD:file.txt").trim();
      rmSync(join(repository.root, "other/.git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
      rmSync(join(repository.root, "other/.git/objects/pack"), { recursive: true, force: true });
      appendFileSync(
        join(repository.root, "other/.git/config"),
        `[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n\tuploadpack = ${repository.mute}\n`,
      );
      repository.plain(["clone", "-q", "--no-local", "../other", "../plain"]);
      if (!repository.sprung()) context.diagnostic("this git does not fetch while it serves, with or without a guard");
      const { exitCode, code } = await kernel.git(repository, session, "CLONE", ["other", "copy"], ".");
      assert.equal(repository.sprung(), false, "the program was run");
      assert.equal(code, "success");
      assert.notEqual(exitCode, 0);
    }));

  it("passes none of its configuration and hooks to a clone", () =>
    kernel.visit(async (repository, session) => {
      repository.config("core.fsmonitor", repository.trap);
      repository.config("filter.x.smudge", repository.trap);
      repository.write(".gitattributes", "*.txt filter=x\n");
      repository.git("-c", "core.fsmonitor=", "add", ".");
      repository.git("-c", "core.fsmonitor=", "commit", "-q", "-m", "attributes");
      for (const name of ["post-checkout", "post-index-change", "reference-transaction"]) {
        repository.program(join(repository.directory, ".git/hooks", name));
      }
      repository.sprung();
      const { code, exitCode, message } = await kernel.git(repository, session, "CLONE", ["work", "copy"], ".");
      assert.equal(repository.sprung(), false, "a program was run");
      assert.deepEqual([code, exitCode], ["success", 0], message);
      assert.doesNotMatch(readFileSync(join(repository.root, "copy/.git/config"), "utf8"), /fsmonitor|filter/);
    }));
});

describe("a `.git` that points elsewhere", () => {
  it("runs nothing from a hostile directory in the workspace", () =>
    kernel.visit(async (repository, session) => {
      repository.config("core.fsmonitor", repository.trap);
      renameSync(join(repository.directory, ".git"), join(repository.root, "elsewhere"));
      repository.write(".git", "gitdir: ../elsewhere\n");
      repository.plain(["status"]);
      assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
      const { exitCode, code } = await kernel.git(repository, session, "STATUS", []);
      assert.equal(repository.sprung(), false, "the program was run");
      assert.deepEqual([code, exitCode], ["success", 0]);
    }));

  for (const [what, plant] of [
    [
      "a `.git` file",
      (directory: string, outside: string) => writeFileSync(join(directory, ".git"), `gitdir: ${outside}/.git\n`),
    ],
    [
      "commondir",
      (directory: string, outside: string) => {
        mkdirSync(join(directory, ".git"));
        writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n");
        writeFileSync(join(directory, ".git/commondir"), `${outside}/.git\n`);
      },
    ],
  ] as const) {
    it(`to ${what} outside of the workspace is rejected, and nothing is read or run there`, () =>
      kernel.visit(async (repository, session) => {
        const outside = mkdtempSync(join(tmpdir(), "narthex-outside-"));
        try {
          repository.config("core.fsmonitor", repository.trap);
          cpSync(repository.directory, outside, { recursive: true });
          rmSync(join(repository.directory, ".git"), { recursive: true });
          plant(repository.directory, outside);
          repository.sprung();
          for (const [operation, args] of [
            ["STATUS", []],
            ["LOG", []],
            ["COMMIT", ["--allow-empty", "-m", "x"]],
          ] as const) {
            const { code, message } = await kernel.git(repository, session, operation, args);
            assert.equal(code, "EXECUTION_FAILED");
            assert.match(message, /leads out of the workspace/);
          }
          assert.equal(repository.sprung(), false, "a program was run");
        } finally {
          rmSync(outside, { recursive: true });
        }
      }));
  }

  it("is rejected with core.worktree outside of the workspace", () =>
    kernel.visit(async (repository, session) => {
      repository.config("core.worktree", "/tmp");
      const { code, message } = await kernel.git(repository, session, "STATUS", []);
      assert.equal(code, "EXECUTION_FAILED");
      assert.match(message, /leads out of the workspace/);
    }));
});

describe("a rebase in progress", () => {
  it("does not continue if its list would run a program", () =>
    kernel.visit(async (repository, session) => {
      repository.git("commit", "-q", "--allow-empty", "-m", "second");
      repository.plain(["-c", "sequence.editor=sed -i 1ibreak", "rebase", "-i", "--keep-empty", "HEAD~1"]);
      const todo = join(repository.directory, ".git/rebase-merge/git-rebase-todo");
      appendFileSync(todo, `exec ${repository.trap}\n`);
      repository.sprung();
      for (const step of ["--continue", "--skip"]) {
        const { code, message } = await kernel.git(repository, session, "REBASE", [step]);
        assert.equal(code, "EXECUTION_FAILED");
        assert.match(message, /exec/);
      }
      assert.equal(repository.sprung(), false, "the program was run");
      repository.plain(["rebase", "--continue"]);
      assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
    }));
});

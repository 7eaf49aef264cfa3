import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { GIT_OPERATIONS } from "@narthex/contracts";
import { discardsWork } from "./discards-work.ts";
import { GIT_OPERATION_FACTS } from "./git-operations.ts";

const ENVIRONMENT = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Someone",
  GIT_AUTHOR_EMAIL: "someone@example.org",
  GIT_COMMITTER_NAME: "Someone",
  GIT_COMMITTER_EMAIL: "someone@example.org",
};
const DIRTY = "not committed\n";

/** Each loses the change of `file`, or the commit that only `fix` has, `only` has or the stash has. */
const DISCARDS = [
  "reset --hard",
  "checkout -- file",
  "checkout -qf main",
  "checkout -f -b new",
  "checkout -B fix",
  "switch --discard-changes main",
  "switch -C fix",
  "restore .",
  "restore -SW file",
  "stash",
  "stash drop",
  "branch -D fix",
  "branch -df fix",
  "branch -d -r origin/x",
  "branch -f fix main",
  "tag -d only",
  "remote -v remove origin",
];
const KEEPS = [
  "reset",
  "checkout -b new",
  "checkout -qb new fix",
  "checkout -b new -- file",
  "checkout fix --",
  "checkout file --",
  "checkout --detach file",
  "checkout --track -- file",
  "switch fix",
  "restore -qS .",
  "stash apply",
  "branch -d fix",
  "branch -m fix main",
  "tag only",
  "merge fix",
];

describe("work that git discards", () => {
  let root: string;
  let commits: ReadonlySet<string>;
  let number = 0;
  const git = (directory: string, ...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: directory, env: ENVIRONMENT, encoding: "utf8" });
  before(() => {
    root = mkdtempSync(join(tmpdir(), "discards-work-"));
    const first = join(root, "first");
    git(root, "init", "-q", "-b", "main", first);
    const commit = (text: string): void => {
      writeFileSync(join(first, text), text);
      git(first, "add", ".");
      git(first, "commit", "-q", "-m", text);
    };
    commit("file");
    git(first, "switch", "-qc", "fix");
    commit("other");
    git(first, "switch", "-q", "main");
    git(first, "remote", "add", "origin", "./nowhere");
    for (const name of ["refs/tags/only", "refs/remotes/origin/x"]) {
      git(first, "update-ref", name, git(first, "commit-tree", "-m", name, "HEAD^{tree}").trim());
    }
    writeFileSync(join(first, "file"), "put away");
    git(first, "stash");
    writeFileSync(join(first, "file"), DIRTY);
    commits = new Set(git(first, "rev-list", "--all").split("\n"));
  });
  after(() => rmSync(root, { recursive: true }));

  /** Whether the change and every commit are still there after the command. */
  function survives(command: string): boolean {
    const copy = join(root, `copy-${++number}`);
    cpSync(join(root, "first"), copy, { recursive: true });
    spawnSync("git", command.split(" "), { cwd: copy, env: ENVIRONMENT });
    const left = new Set(git(copy, "rev-list", "--all").split("\n"));
    return readFileSync(join(copy, "file"), "utf8") === DIRTY && commits.isSubsetOf(left);
  }

  const isListed = (line: string): boolean => {
    const [command = "", ...args] = line.split(" ");
    return discardsWork(command, args);
  };

  it("counts every use with which git discards changes or commits", () => {
    for (const command of DISCARDS)
      assert.deepEqual([command, survives(command), isListed(command)], [command, false, true]);
  });

  it("does not count uses that keep them", () => {
    for (const command of KEEPS)
      assert.deepEqual([command, survives(command), isListed(command)], [command, true, false]);
  });

  it("counts options and forms that it does not know", () => {
    for (const line of [
      "checkout main",
      "checkout -",
      "branch --del x",
      "restore",
      "stash -q drop",
      "rebase main",
      "merge --abort",
    ]) {
      assert.equal(isListed(line), true, line);
    }
  });

  it("knows every operation of the tool, and counts an unknown option of those that change branches or files", () => {
    const counted = GIT_OPERATIONS.filter((name) => discardsWork(GIT_OPERATION_FACTS[name].command, ["--unknown"]));
    assert.deepEqual(counted.join(" "), "FETCH PULL BRANCH CHECKOUT MERGE REBASE RESET STASH TAG REMOTE");
  });
});

import { spawnSync } from "node:child_process";
import { availableParallelism, release, totalmem, type } from "node:os";
import { formatBytes } from "../../packages/narthex/src/terminal/units.ts";

export interface MachineFacts {
  readonly commit: string;
  readonly machine: string;
}

/** What was run, and on what: nothing that tells one machine of a kind from another. */
export function describeMachine(root: string): MachineFacts {
  const memory = `${formatBytes(totalmem())} of memory`;
  return {
    commit: describeCommit(root),
    machine: `${availableParallelism()} cores, ${memory}, ${process.arch}, Node ${process.versions.node}, ${type()} ${release()}`,
  };
}

/** Reports are written into the tree that they are about, so they do not count as changes. */
function describeCommit(root: string): string {
  const commit = git(root, ["rev-parse", "HEAD"]);
  const changes = git(root, ["status", "--porcelain", "--", ".", ":!docs/reports"]);
  if (commit === undefined || changes === undefined) return "unknown: not a git checkout, or git is missing";
  return `${commit.trim()} (${changes === "" ? "clean" : "with uncommitted changes"})`;
}

function git(root: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", words, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}

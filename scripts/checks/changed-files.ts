import { spawnSync } from "node:child_process";

/**
 * The revision to compare with: where the current branch left `main`; on `main` itself the last commit, or the one
 * before it if nothing is uncommitted.
 */
export function findBase(root: string): string {
  const [head, fork] = [git(root, "rev-parse", "HEAD"), git(root, "merge-base", "HEAD", "main")];
  if (fork !== undefined && fork !== head) return fork;
  return git(root, "status", "--porcelain") === "" ? "HEAD~1" : "HEAD";
}

/** Files that differ from a revision, and files that git does not track yet; deleted files are left out. */
export function listChangedFiles(root: string, base: string): string[] {
  const tracked = git(root, "diff", "--name-only", "--no-renames", "--diff-filter=d", base, "--");
  const untracked = git(root, "ls-files", "--others", "--exclude-standard");
  if (tracked === undefined || untracked === undefined) throw new Error(`git does not know the revision \`${base}\``);
  return [...tracked.split("\n"), ...untracked.split("\n")].filter((file) => file !== "");
}

/** The output of a git command; undefined if it failed. */
function git(root: string, ...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", ["-c", "core.quotePath=false", ...words], {
    cwd: root,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

import { posix } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { GitRunner } from "./git-runner.ts";
import type { CommandOutput } from "./command-output.ts";
import { toSandboxPath, fromSandboxPath } from "./sandbox-path.ts";

/** The repository that an operation works in. */
export interface FoundRepository {
  /** Its working tree, relative to the workspace. */
  readonly top: string;
  /**
   * Directories whose git files belong to it: its own, and that of the main repository if it is a worktree or
   * submodule.
   */
  readonly repositories: readonly string[];
}

/** Makes git print its locations, one per line. The last line is the path of the todo list of a rebase in progress. */
export const LOCATE_ARGUMENTS = [
  "rev-parse",
  "--path-format=absolute",
  "--show-toplevel",
  "--absolute-git-dir",
  "--git-common-dir",
  "--git-path",
  "rebase-merge/git-rebase-todo",
];

export async function findRepository(git: GitRunner, workingDirectory: string): Promise<FoundRepository> {
  return parseRepository(await git.capture(LOCATE_ARGUMENTS, { workingDirectory }), workingDirectory);
}

/**
 * SECURITY: a `.git` file, `commondir` and `core.worktree` can name any directory. The sandbox contains nothing of the
 * host; directories outside the workspace are refused nevertheless.
 */
export function parseRepository(looked: CommandOutput, workingDirectory: string): FoundRepository {
  if (looked.exitCode !== 0) throw noRepository(looked, workingDirectory);
  const [top, own, common, todo, ...rest] = new TextDecoder().decode(looked.stdout).split("\n");
  if (top === undefined || own === undefined || common === undefined || todo === undefined || rest.join("") !== "") {
    throw failed("the repository's path has a line break in it: rename the directory");
  }
  const paths = [top, own, common].map((path) => {
    const relative = fromSandboxPath(path);
    if (relative === undefined) throw leadsOutside(path);
    return relative;
  });
  const repositories = new Set(paths.map(containingDirectory));
  return { top: paths[0] ?? ".", repositories: [...repositories] };
}

/** The directory that contains the `.git` of a path; the path itself if it has none. */
function containingDirectory(path: string): string {
  const parts = path.split("/");
  const at = parts.indexOf(".git");
  return at === -1 ? path : parts.slice(0, at).join("/") || ".";
}

/** Converts git's error message into the error for a directory where git finds no usable repository. */
export function noRepository({ stderr }: CommandOutput, workingDirectory: string): KernelError {
  if (stderr.includes("fatal: cannot change to")) {
    return new KernelError("FILE_NOT_FOUND", `there is no directory \`${workingDirectory.slice(0, 200)}\``);
  }
  const elsewhere = /(?:not a git repository: |Invalid path ')([^'\n]+)/.exec(stderr)?.[1];
  if (elsewhere !== undefined) return leadsOutside(elsewhere);
  if (stderr.includes("not a git repository")) {
    return failed(
      `\`${posix.basename(toSandboxPath(workingDirectory))}\` is not in a git repository: set cwd, or CLONE one`,
    );
  }
  if (stderr.includes("cannot use bare repository") || stderr.includes("must be run in a work tree")) {
    return failed("this is a bare repository or a git directory: git works only where files are checked out");
  }
  return failed(`git cannot work here: ${firstLine(stderr)}`);
}

function leadsOutside(path: string): KernelError {
  return failed(
    `the repository leads out of the workspace, to \`${firstLine(path)}\`: open a session on the repository itself, or CLONE it`,
  );
}

function failed(message: string): KernelError {
  return new KernelError("EXECUTION_FAILED", message);
}

function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").slice(0, 200);
}

import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { IgnoredFiles } from "./connection-record.ts";
import { removeWorkspaceFromPath } from "./remove-workspace-from-path.ts";
import { readWorkspaceFile, removeWorkspaceFile, writeWorkspaceFile } from "./workspace-file.ts";

/** Git's list of ignored files for one clone; never committed. */
const LIST = "info/exclude";
const TIMEOUT_MS = 10_000;
const run = promisify(execFile);

type Git = (...words: readonly string[]) => Promise<string | undefined>;

/**
 * Plans the lines that keep these files of a workspace out of commits, for files that git neither tracks nor ignores.
 * Returns undefined if there is nothing to add, or no repository that git reads as this user.
 */
export async function planIgnored(workspace: string, names: readonly string[]): Promise<IgnoredFiles | undefined> {
  const git = await createGit(workspace);
  const list = await git("rev-parse", "--git-path", LIST);
  const prefix = await git("rev-parse", "--show-prefix");
  if (list === undefined || prefix === undefined) return undefined;
  const repository = await realpath(resolve(workspace, dirname(dirname(list)))).catch(() => undefined);
  if (repository === undefined) return undefined;
  const lines: string[] = [];
  for (const name of names) {
    const isTracked = (await git("ls-files", "--error-unmatch", "--", name)) !== undefined;
    const isIgnored = (await git("check-ignore", "--quiet", "--", name)) !== undefined;
    if (!isTracked && !isIgnored) lines.push(patternFor(`${prefix}${name}`));
  }
  if (lines.length === 0) return undefined;
  return { repository, lines, created: (await readWorkspaceFile(repository, LIST)).text === undefined };
}

export async function addIgnored({ repository, lines }: IgnoredFiles): Promise<void> {
  const file = await readWorkspaceFile(repository, LIST);
  const present = (file.text ?? "").split("\n");
  // Also handles a list whose last line has no line end.
  const place = present.at(-1) === "" ? present.length - 1 : present.length;
  await writeWorkspaceFile(file, present.toSpliced(place, 0, ...lines).join("\n"));
}

/** Removes each line once, wherever it is now. */
export async function removeIgnored({ repository, lines, created }: IgnoredFiles): Promise<void> {
  const isThere = await stat(repository).catch(() => undefined);
  if (isThere === undefined) return;
  const file = await readWorkspaceFile(repository, LIST);
  if (file.text === undefined) return;
  const present = file.text.split("\n");
  for (const line of lines) {
    const index = present.lastIndexOf(line);
    if (index >= 0) present.splice(index, 1);
  }
  const text = present.join("\n");
  if (created && text === "") await removeWorkspaceFile(file, []);
  else if (text !== file.text) await writeWorkspaceFile(file, text);
}

/** Builds a pattern anchored at the top of the work tree, with every special character escaped. */
function patternFor(path: string): string {
  return `/${path.replace(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ")}`;
}

/**
 * Runs git queries on a workspace. A query returns undefined if it fails or git exits with an error.
 *
 * SECURITY: these queries run no hook, filter or pager, and everything else that a repository's configuration could
 * make git run is switched off. As root, git runs as the owner of the workspace.
 */
async function createGit(workspace: string): Promise<Git> {
  const { uid, gid } = await stat(workspace);
  const isRoot = process.getuid?.() === 0;
  const env = {
    PATH: removeWorkspaceFromPath(process.env["PATH"] ?? "", workspace),
    HOME: isRoot && uid !== 0 ? "/" : process.env["HOME"],
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0",
  };
  const options = { cwd: workspace, timeout: TIMEOUT_MS, env, ...(isRoot && { uid, gid }) };
  return async (...words) => {
    try {
      return (await run("git", ["-c", "core.fsmonitor=false", ...words], options)).stdout.replace(/\n$/, "");
    } catch {
      return undefined;
    }
  };
}

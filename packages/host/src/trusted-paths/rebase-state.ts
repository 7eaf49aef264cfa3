import { joinPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** Where git keeps an operation that waits to be continued, and the list of what is left of it. */
const STATES: ReadonlyArray<readonly [directory: string, list: string]> = [
  ["rebase-merge", "git-rebase-todo"],
  ["rebase-apply", "git-rebase-todo"],
  ["sequencer", "todo"],
];
const MAX_BYTES = 1024 * 1024;

/**
 * Operations of a repository that would run a program when the user continues them, by the path of their directory. A
 * rebase that only picks commits is not among them: programs may start and continue one. `names` are those of the
 * repository's directory.
 *
 * SECURITY: a list that cannot be read as a whole, or a link in its place, counts as one that runs programs.
 */
export async function findDangerousStates(
  view: WorkspaceView,
  gitDirectory: string,
  names: ReadonlySet<string>,
): Promise<string[]> {
  const dangerous: string[] = [];
  for (const [directory, list] of STATES) {
    if (!names.has(directory)) continue;
    const path = joinPath(gitDirectory, directory);
    const found = await view.inspectAt(path);
    if (found === undefined) continue;
    if (found.kind !== "directory" || (await runsPrograms(view, joinPath(path, list)))) dangerous.push(path);
  }
  return dangerous;
}

async function runsPrograms(view: WorkspaceView, list: string): Promise<boolean> {
  const found = await view.inspectAt(list);
  if (found === undefined) return false;
  const text = found.kind === "file" ? await view.readAt(list, MAX_BYTES) : undefined;
  // SPEC: `is_command` in git's sequencer.c ends a command at a space, a tab or the end of the line.
  return text === undefined || text.length >= MAX_BYTES || /^[ \t]*(?:exec|x)[ \t\r]/m.test(text);
}

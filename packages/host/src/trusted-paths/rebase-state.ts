import { joinPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** Where git keeps an interrupted operation, and the list of its remaining steps. */
const STATES: ReadonlyArray<readonly [directory: string, list: string]> = [
  ["rebase-merge", "git-rebase-todo"],
  ["rebase-apply", "git-rebase-todo"],
  ["sequencer", "todo"],
];
const MAX_BYTES = 1024 * 1024;

/**
 * Finds interrupted operations of a repository that would run a program when the user continues them; returns their
 * directories. A rebase that only picks commits is not included: programs may start and continue one. `names` are the
 * entries of the repository's directory.
 *
 * SECURITY: a list that cannot be read completely, or a link in its place, counts as running programs.
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

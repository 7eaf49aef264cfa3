import { parseGitConfig } from "./parse-git-config.ts";
import { joinPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

const MAX_BYTES = 64 * 1024;
/** Harmless settings, such as `git init --bare` or `git clone --bare` write. */
const INERT =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|logallrefupdates|symlinks)|remote\..*\.(?:url|fetch|mirror)|branch\..*\.(?:remote|merge)|extensions\.(?:objectformat|refstorage)|user\.(?:name|email))$/s;

/**
 * Whether a repository contains nothing that git could run: only harmless settings, and no hooks but git's samples. A
 * project's tests create such repositories.
 */
export async function isInertRepository(view: WorkspaceView, directory: string): Promise<boolean> {
  for (const name of ["commondir", "config.worktree", "info/attributes"]) {
    if ((await view.inspectAt(joinPath(directory, name))) !== undefined) return false;
  }
  const hooks = joinPath(directory, "hooks");
  const found = await view.inspectAt(hooks);
  if (found !== undefined && found.kind !== "directory") return false;
  if (!((await view.namesAt(hooks)) ?? []).every((name) => name.endsWith(".sample"))) return false;
  const config = await view.readAt(joinPath(directory, "config"), MAX_BYTES);
  if (config === undefined || config.length >= MAX_BYTES) return false;
  return parseGitConfig(config).every(({ key }) => INERT.test(key));
}

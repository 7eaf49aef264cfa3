import { MAX_PATH_LEN } from "@narthex/contracts";
import { createJsonReader } from "../capability/json-reader.ts";
import { isNormalPath } from "../capability/path-prefix.ts";
import type { LabelledWorkspace, WorkspaceLabels } from "./workspace-labels.ts";

/** Resolves the real path of a workspace on this machine, or throws WORKSPACE_REFUSED. */
export type RealWorkspace = (workspace: string) => Promise<string>;

/**
 * Lists the directories whose labels apply to a workspace. A directory that is gone or can no longer be a workspace is
 * accepted if labels apply to its path; any other invalid workspace is refused with WORKSPACE_REFUSED.
 */
export async function listWorkspaceLabels(
  workspace: string,
  realWorkspace: RealWorkspace,
  labels: WorkspaceLabels,
): Promise<LabelledWorkspace[]> {
  requirePath(workspace);
  const found = labels.sources(workspace);
  const real = await realWorkspace(workspace).catch((fault: unknown) => {
    if (found.length > 0) return workspace;
    throw fault;
  });
  if (real === workspace) return found;
  const known = new Set(found.map((source) => source.workspace));
  return [...found, ...labels.sources(real).filter((source) => !known.has(source.workspace))];
}

/** SECURITY: a relative path would be resolved against the kernel's own working directory. */
function requirePath(workspace: string): void {
  const reader = createJsonReader();
  if (reader.name(workspace, "workspace", MAX_PATH_LEN) !== undefined && !isNormalPath(workspace)) {
    reader.refuse("workspace", "format", "must be an absolute path without `.`, `..` or empty components");
  }
  reader.finish(workspace, "INVALID_INPUT", "the directory's path");
}

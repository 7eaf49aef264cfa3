import type { UnsafeWorkspace } from "@narthex/kernel";
import { type TextView, toTextView } from "./text-view.ts";

/** Converts the workspaces in which no program may run for the page. */
export function toUnsafeWorkspaceViews(
  workspaces: readonly UnsafeWorkspace[],
): { readonly workspace: TextView; readonly problem: TextView }[] {
  return workspaces.map(({ workspace, problem }) => ({
    workspace: toTextView(workspace),
    problem: toTextView(problem),
  }));
}

import type { UnsafeWorkspace } from "@narthex/kernel";
import { type TextView, toTextView } from "./text-view.ts";

/** Workspaces in which no program runs, as the page shows them. */
export function toUnsafeWorkspaceViews(
  workspaces: readonly UnsafeWorkspace[],
): { readonly workspace: TextView; readonly problem: TextView }[] {
  return workspaces.map(({ workspace, problem }) => ({
    workspace: toTextView(workspace),
    problem: toTextView(problem),
  }));
}

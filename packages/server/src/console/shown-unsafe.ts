import type { UnsafeWorkspace } from "@narthex/kernel";
import { type ShownText, shownText } from "./shown-text.ts";

/** Workspaces in which no program runs, as the page shows them. */
export function shownUnsafe(
  workspaces: readonly UnsafeWorkspace[],
): { readonly workspace: ShownText; readonly problem: ShownText }[] {
  return workspaces.map(({ workspace, problem }) => ({ workspace: shownText(workspace), problem: shownText(problem) }));
}

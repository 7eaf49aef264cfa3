import type { KernelParts } from "../kernel-parts.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Effect } from "../tool/tool.ts";
import { joinLabels } from "./join-labels.ts";
import { workspaceUse } from "./workspace-use.ts";

/**
 * Labels of a session, joined with those of its workspace if the effects mean that the call works in it. Returns the
 * session's own array if the workspace adds nothing.
 */
export function sessionLabels(
  live: LiveSession,
  effects: readonly Effect[],
  kernel: Pick<KernelParts, "workspaceLabels">,
): readonly string[] {
  if (workspaceUse(effects) === "none") return live.labels;
  return joinLabels(live.labels, kernel.workspaceLabels.get(live.session.workspace));
}

import type { KernelParts } from "../kernel-parts.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Effect } from "../tool/tool.ts";
import { joinLabels } from "./join-labels.ts";
import { workspaceUse } from "./workspace-use.ts";

/** Of a session, and of its workspace if the effects are such that a call works in it. The session's own array where that is all. */
export function sessionLabels(
  live: LiveSession,
  effects: readonly Effect[],
  kernel: Pick<KernelParts, "workspaceLabels">,
): readonly string[] {
  if (workspaceUse(effects) === "none") return live.labels;
  return joinLabels(live.labels, kernel.workspaceLabels.get(live.session.workspace));
}

import type { KernelParts } from "../kernel-parts.ts";
import { joinLabels } from "../label/join-labels.ts";
import { sessionLabels } from "../label/session-labels.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Effect } from "../tool/tool.ts";
import type { CallTrail } from "./call-trail.ts";

/**
 * Returns the labels shown to policy and approvers: those of session and workspace, and of the content that the call
 * has read so far.
 */
export function callLabels(
  { live, trail }: { readonly live: LiveSession; readonly trail: CallTrail },
  effects: readonly Effect[],
  kernel: Pick<KernelParts, "workspaceLabels">,
): readonly string[] {
  return joinLabels(sessionLabels(live, effects, kernel), trail.labels);
}

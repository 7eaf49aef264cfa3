import type { KernelParts } from "../kernel-parts.ts";
import { hasLabels } from "../label/join-labels.ts";
import { resultLabels } from "../label/result-labels.ts";
import type { WorkspaceLabelUpdate } from "../label/workspace-labels.ts";
import { workspaceUse } from "../label/workspace-use.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import { OUTSIDE_EFFECTS } from "../tool/effect-rules.ts";
import type { CallTrail } from "./call-trail.ts";
import type { PermittedCall } from "./decide/decide.ts";
import { callLabels } from "./call-labels.ts";

/** Adds the labels that a call has from the start: those of its tool, and of the workspace it works in. */
export function adoptInitialLabels(call: PermittedCall, kernel: KernelParts): void {
  const { trail, live, effects, registered } = call;
  trail.workspaceUse = workspaceUse(effects);
  trail.addLabels(resultLabels(registered.tool, effects));
  adoptWorkspaceLabels(trail, live.session.workspace, kernel);
}

/** Adds the workspace's labels: content that other calls have written there may be in the result. */
export function adoptWorkspaceLabels(trail: CallTrail, workspace: string, kernel: KernelParts): void {
  if (trail.workspaceUse !== "none") trail.addLabels(kernel.workspaceLabels.get(workspace));
}

/**
 * Adds labels that a running call acquires; to be awaited before the labelled content is passed to the call.
 *
 * SECURITY: content that a call writes, or that is shown while it runs, leaves the call before its outcome is recorded,
 * so its labels are made durable first. A call that sends something out is decided again, because it was permitted
 * without these labels.
 */
export async function adoptLabels(call: PermittedCall, labels: readonly string[], kernel: KernelParts): Promise<void> {
  if (labels.length === 0) return;
  const { trail, effects } = call;
  const isKnown = hasLabels(callLabels(call, effects, kernel), labels);
  trail.addLabels(labels);
  if (!isKnown && effects.some((effect) => OUTSIDE_EFFECTS.has(effect))) kernel.redecide(call, [], kernel);
  if (trail.workspaceUse === "write" || isStreamed(call)) await persistLabels(call, kernel);
}

/** Whether the caller receives output while the call runs. */
export function isStreamed({ incoming }: PermittedCall): boolean {
  return incoming.onChunk !== undefined;
}

/**
 * Makes the call's labels durable for its session, and for the workspace if the call writes in it, before anything else
 * happens.
 */
export async function persistLabels(call: PermittedCall, kernel: KernelParts): Promise<void> {
  const { trail, live, requestId } = call;
  const { labels } = trail;
  live.addLabels(labels);
  const labelling = labelWrittenWorkspace(trail, live.session.workspace, live.labels, kernel);
  if (labelling === undefined && live.hasDurableLabels(labels)) return;
  const entries: EntryDraft[] = [{ case: "labelsAdopted", value: { labels } }];
  if (labelling !== undefined) entries.push(labelling.entry);
  await kernel.ledger.append({
    chain: live.id,
    requestId,
    // The request id must lead to the call, not to this record.
    foundById: false,
    entries,
    state: [live.usageRow(), ...(labelling === undefined ? [] : [labelling.row()])],
  });
  live.noteDurableLabels(labels);
  labelling?.noteDurable();
}

/** Returns the label update to record for a workspace in which a call with these labels writes, or has written. */
export function labelWrittenWorkspace(
  { workspaceUse: use }: CallTrail,
  workspace: string,
  labels: readonly string[],
  kernel: KernelParts,
): WorkspaceLabelUpdate | undefined {
  return use === "write" ? kernel.workspaceLabels.join(workspace, labels) : undefined;
}

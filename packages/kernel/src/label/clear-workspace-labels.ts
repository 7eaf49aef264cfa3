import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { listWorkspaceLabels, type RealWorkspace } from "./list-workspace-labels.ts";
import type { LabelledWorkspace } from "./workspace-labels.ts";

/** A request to clear a directory's labels after a person has checked its content. */
export interface LabelClearing {
  readonly workspace: string;
  /** Name of the person who clears the labels. */
  readonly by: string;
}

export interface ClearedLabels {
  readonly recordIndex: number;
  /** The removed labels. */
  readonly labels: readonly string[];
}

const MAX_NAME = 256;

/**
 * Removes all labels from a directory, after a person has checked its content. Sessions and content keep their labels,
 * and labels of directories that contain it or lie in it still apply. Throws WORKSPACE_REFUSED if the directory has no
 * labels of its own.
 */
export async function clearWorkspaceLabels(
  { workspace, by }: LabelClearing,
  realWorkspace: RealWorkspace,
  { workspaceLabels, ledger }: KernelParts,
): Promise<ClearedLabels> {
  requireName(by);
  const sources = await listWorkspaceLabels(workspace, realWorkspace, workspaceLabels);
  const isOwn = sources.some((source) => source.workspace === workspace);
  const directory = isOwn ? workspace : await realWorkspace(workspace).catch(() => workspace);
  const clearing = workspaceLabels.clear(directory, by.slice(0, MAX_NAME).toWellFormed());
  if (clearing === undefined) throw noOwnLabels(workspace, sources);
  const { index } = await ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [clearing.entry],
    state: () => [clearing.row()],
  });
  return { recordIndex: index, labels: clearing.labels };
}

/** The ledger records the person's name, so it is required. */
function requireName(by: string): void {
  if (by.trim() !== "") return;
  const violations = [{ field: "by", rule: "required", message: "must not be empty" }];
  throw new KernelError("INVALID_INPUT", "say in `by` who takes the labels off", { violations });
}

function noOwnLabels(workspace: string, [source]: readonly LabelledWorkspace[]): KernelError {
  const from = source === undefined ? "" : `; those in force there are of \`${source.workspace.slice(0, 200)}\``;
  return new KernelError("WORKSPACE_REFUSED", `\`${workspace.slice(0, 200)}\` has no labels of its own${from}`);
}

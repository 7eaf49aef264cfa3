import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { listWorkspaceLabels, type RealWorkspace } from "./list-workspace-labels.ts";
import type { LabelledWorkspace } from "./workspace-labels.ts";

/** A person has looked at what is in a directory. */
export interface LabelClearing {
  readonly workspace: string;
  /** Who says so. */
  readonly by: string;
}

export interface ClearedLabels {
  readonly recordIndex: number;
  /** Those that were taken off. */
  readonly labels: readonly string[];
}

const MAX_NAME = 256;

/**
 * Takes all labels off a directory, because a person looked and says so. Sessions and content keep theirs, and labels of
 * directories that contain it, or lie in it, still hold there. Throws WORKSPACE_REFUSED if it has none of its own.
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

/** The ledger names whoever has looked. */
function requireName(by: string): void {
  if (by.trim() !== "") return;
  const violations = [{ field: "by", rule: "required", message: "must not be empty" }];
  throw new KernelError("INVALID_INPUT", "say in `by` who takes the labels off", { violations });
}

function noOwnLabels(workspace: string, [source]: readonly LabelledWorkspace[]): KernelError {
  const from = source === undefined ? "" : `; those in force there are of \`${source.workspace.slice(0, 200)}\``;
  return new KernelError("WORKSPACE_REFUSED", `\`${workspace.slice(0, 200)}\` has no labels of its own${from}`);
}

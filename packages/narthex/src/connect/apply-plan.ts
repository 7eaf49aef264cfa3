import { deleteRecord, mergeRecords, loadRecord, saveRecord, type ConnectionRecord } from "./connection-record.ts";
import { addIgnored, removeIgnored } from "./git-exclude.ts";
import { isChanged, type PlannedFile } from "./plan-connection.ts";
import { removeWorkspaceFile, writeWorkspaceFile } from "./workspace-file.ts";

/** Writes the files of a plan. The record is written first, so that every change can be undone. */
export async function applyPlan(
  plans: readonly PlannedFile[],
  { workspace, client, ignored }: Pick<ConnectionRecord, "workspace" | "client" | "ignored">,
  recordPath: string,
): Promise<void> {
  const files = plans.filter(isChanged).map(({ recorded }) => recorded);
  const later: ConnectionRecord = { format: 1, workspace, client, files, ...(ignored && { ignored }) };
  await saveRecord(recordPath, mergeRecords(await loadRecord(recordPath), later));
  if (ignored !== undefined) await addIgnored(ignored);
  for (const plan of plans)
    if (isChanged(plan) && plan.text !== undefined) await writeWorkspaceFile(plan.file, plan.text);
}

export async function applyUndoPlan(
  plans: readonly PlannedFile[],
  { ignored }: Pick<ConnectionRecord, "ignored">,
  recordPath: string,
): Promise<void> {
  for (const plan of plans) {
    if (!isChanged(plan)) continue;
    if (plan.text === undefined) await removeWorkspaceFile(plan.file, plan.recorded.directories);
    else await writeWorkspaceFile(plan.file, plan.text);
  }
  if (ignored !== undefined) await removeIgnored(ignored);
  await deleteRecord(recordPath);
}

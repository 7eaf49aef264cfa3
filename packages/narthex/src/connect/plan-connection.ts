import { CommandError } from "../terminal/command-error.ts";
import { applyEdits } from "./apply-edits.ts";
import type { ClientFile } from "./client.ts";
import { EditProblem } from "./configuration-edit.ts";
import type { ConnectionRecord, RecordedFile } from "./connection-record.ts";
import { JsoncProblem, parseJsonc } from "./jsonc-tree.ts";
import { revertEdits } from "./revert-edits.ts";
import { applyTomlEdits } from "./toml-edit.ts";
import { revertTomlEdits } from "./revert-toml-edits.ts";
import { readWorkspaceFile, type WorkspaceFile } from "./workspace-file.ts";

/** Planned change of one file. */
export interface PlannedFile {
  readonly file: WorkspaceFile;
  /** Undefined deletes the file; the same text as now leaves it unchanged. */
  readonly text: string | undefined;
  readonly recorded: RecordedFile;
  /** Changes that an undo leaves in place, because they were modified since. */
  readonly conflicts: readonly string[];
}

/** Reads every file before any is written, so that one which cannot be edited leaves all of them unchanged. */
export async function planConnection(workspace: string, files: readonly ClientFile[]): Promise<PlannedFile[]> {
  const plans: PlannedFile[] = [];
  for (const clientFile of files) {
    const file = await readWorkspaceFile(workspace, clientFile.name);
    plans.push("whole" in clientFile ? planWholeFile(file, clientFile.whole) : planEdits(file, clientFile));
  }
  return plans;
}

/** Plans the undo in the same way. */
export async function planUndo({ workspace, files }: ConnectionRecord): Promise<PlannedFile[]> {
  const plans: PlannedFile[] = [];
  for (const recorded of files) plans.push(planRevert(await readWorkspaceFile(workspace, recorded.name), recorded));
  return plans;
}

export function isChanged({ file, text }: PlannedFile): boolean {
  return file.text !== text;
}

function planWholeFile(file: WorkspaceFile, whole: string): PlannedFile {
  if (file.text !== undefined && file.text !== whole) {
    throw new CommandError("CONFIG_INVALID", `\`${file.name}\` is not narthex's; rename or remove it`, {
      next: "nothing was changed; then run the command again",
    });
  }
  const created = file.text === undefined;
  const recorded = { name: file.name, created, directories: file.missing, applied: [], ...(created && { whole }) };
  return { file, text: whole, recorded, conflicts: [] };
}

function planEdits(file: WorkspaceFile, clientFile: Exclude<ClientFile, { readonly whole: string }>): PlannedFile {
  const isToml = clientFile.format === "toml";
  const { text, applied } = explainProblem(file, () => {
    if (isToml) return applyTomlEdits(file.text ?? "", clientFile.edits);
    parseJsonc(file.text ?? "{}");
    return applyEdits(file.text ?? "{}\n", clientFile.edits);
  });
  const created = file.text === undefined;
  const format = isToml ? ({ format: "toml" } as const) : {};
  const recorded = { name: file.name, created, directories: file.missing, applied, ...format };
  return { file, text: created && applied.length === 0 ? undefined : text, recorded, conflicts: [] };
}

function planRevert(file: WorkspaceFile, recorded: RecordedFile): PlannedFile {
  const { text } = file;
  if (text === undefined) return { file, text, recorded, conflicts: [] };
  if (recorded.whole !== undefined) {
    const isOwn = text === recorded.whole;
    return { file, text: isOwn ? undefined : text, recorded, conflicts: isOwn ? [] : [file.name] };
  }
  const isToml = recorded.format === "toml";
  const taken = explainProblem(file, () => (isToml ? revertTomlEdits : revertEdits)(text, recorded.applied));
  const isEmpty = recorded.created && taken.text.trim() === (isToml ? "" : "{}");
  return { file, text: isEmpty ? undefined : taken.text, recorded, conflicts: taken.conflicts };
}

function explainProblem<T>({ name, text = "" }: WorkspaceFile, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof JsoncProblem) && !(cause instanceof EditProblem)) throw cause;
    const lines = text.slice(0, cause.at).split(/\r\n|\r|\n/);
    const place = `${name}:${lines.length}:${(lines.at(-1) ?? "").length + 1}`;
    const kind = cause instanceof JsoncProblem ? "not valid JSON: " : "";
    throw new CommandError("CONFIG_INVALID", `${place}: ${kind}${cause.message}`, {
      cause,
      next: "nothing was changed; put this place right, then run the command again",
    });
  }
}

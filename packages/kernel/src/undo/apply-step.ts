import { fromHex, KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { FoundContent } from "../result/content-library.ts";
import type { FileResult, FileOperation, WorkspaceFiles } from "../workspace-files.ts";
import type { UndoStep } from "./undo-steps.ts";

/** The workspace in which changes are undone. */
export interface UndoPlace {
  readonly files: WorkspaceFiles;
  readonly workspace: string;
  /** Labels of the session whose calls are undone. */
  readonly labels: readonly string[];
  readonly kernel: KernelParts;
}

/** Applies one step if the path is in the expected state; otherwise fails and changes nothing. */
export async function applyStep(step: UndoStep, place: UndoPlace): Promise<void> {
  const { kernel, workspace } = place;
  const paths = step.kind === "move" ? [step.from, step.to] : [step.path];
  const trusted = await kernel.trustedPaths?.inspect(workspace, paths);
  for (const path of paths) {
    // Programs that run meanwhile are not blamed for this change.
    if (kernel.isProtected(path) || trusted?.isTrusted(path) === true) kernel.programs?.allowChange(workspace, path);
  }
  await runOperation(await operationOf(step, kernel), "write", place);
}

async function operationOf(step: UndoStep, kernel: KernelParts): Promise<FileOperation> {
  if (step.kind === "move") return { kind: "move", source: step.from, destination: step.to, overwrite: false };
  const { path, expected, before } = step;
  const found = before.kind === "file" ? await findEarlierContent(before.hash, path, kernel) : undefined;
  return { kind: "restore", path, expected, before, content: found && kernel.content.stream(found, 0, 0) };
}

/** Finds the earlier bytes of a path. Throws CONTENT_NOT_FOUND if they are no longer stored. */
export async function findEarlierContent(hash: string, path: string, kernel: KernelParts): Promise<FoundContent> {
  const digest = fromHex(hash);
  const found = digest && (await kernel.content.findAny(digest));
  if (found !== undefined) return found.content;
  throw new KernelError(
    "CONTENT_NOT_FOUND",
    `what was in \`${path}\` before is not stored any more; nothing was undone`,
  );
}

/** Runs a file operation outside of any call. */
export async function runOperation(
  operation: FileOperation,
  access: "read" | "write",
  { files, workspace }: UndoPlace,
): Promise<FileResult> {
  const prepared = await files.prepare({ workspace, access }, operation, new AbortController().signal);
  const named = operation.kind === "move" ? [operation.source, operation.destination] : [operation.path];
  if (!prepared.opened.every((path) => named.includes(path))) {
    // SECURITY: a directory may have been replaced by a link since, which would redirect the restored content.
    await prepared.abandon();
    throw new KernelError(
      "UNDO_CONFLICT",
      `\`${named.join("`, `")}\` lies behind a link now; nothing was changed there`,
    );
  }
  return await prepared.commit();
}

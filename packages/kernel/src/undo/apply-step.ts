import { fromHex, KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { FoundContent } from "../result/content-library.ts";
import type { FileResult, FileOperation, WorkspaceFiles } from "../workspace-files.ts";
import type { UndoStep } from "./undo-steps.ts";

/** Where something is undone. */
export interface UndoPlace {
  readonly files: WorkspaceFiles;
  readonly workspace: string;
  /** Of the session whose calls are undone. */
  readonly labels: readonly string[];
  readonly kernel: KernelParts;
}

/** Does one step, if what is there still is what is expected: fails and changes nothing otherwise. */
export async function applyStep(step: UndoStep, place: UndoPlace): Promise<void> {
  const { kernel, workspace } = place;
  const paths = step.kind === "move" ? [step.from, step.to] : [step.path];
  const trusted = await kernel.trustedPaths?.inspect(workspace, paths);
  for (const path of paths) {
    // Programs that run meanwhile are not blamed for it.
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

/** Throws unless the bytes that were there are still kept. */
export async function findEarlierContent(hash: string, path: string, kernel: KernelParts): Promise<FoundContent> {
  const digest = fromHex(hash);
  const found = digest && (await kernel.content.findAny(digest));
  if (found !== undefined) return found.content;
  throw new KernelError(
    "CONTENT_NOT_FOUND",
    `what was in \`${path}\` before is not stored any more; nothing was undone`,
  );
}

/** One file operation outside of any call. */
export async function runOperation(
  operation: FileOperation,
  access: "read" | "write",
  { files, workspace }: UndoPlace,
): Promise<FileResult> {
  const prepared = await files.prepare({ workspace, access }, operation, new AbortController().signal);
  const named = operation.kind === "move" ? [operation.source, operation.destination] : [operation.path];
  if (!prepared.opened.every((path) => named.includes(path))) {
    // SECURITY: directories that became links since would lead what is put back elsewhere.
    await prepared.abandon();
    throw new KernelError(
      "UNDO_CONFLICT",
      `\`${named.join("`, `")}\` lies behind a link now; nothing was changed there`,
    );
  }
  return await prepared.commit();
}

import { KernelError, MAX_EDIT_SIZE, MAX_PATH_LEN } from "@narthex/contracts";
import type { FileOperation } from "@narthex/kernel";
import { quotePath } from "./explain-fault.ts";

const MAX_PART_BYTES = 255;
const MAX_GLOB_LENGTH = 1024;

/** Rejects operations that are invalid regardless of the workspace. */
export function checkOperation(operation: FileOperation): void {
  if (operation.kind === "move") for (const path of [operation.source, operation.destination]) checkPath(path);
  else checkPath(operation.path);
  switch (operation.kind) {
    case "read":
      checkCounts({ offset: operation.offset, limit: operation.limit });
      return;
    case "list":
      checkCounts({ depth: operation.depth, limit: operation.limit });
      if (operation.glob !== undefined && !isText(operation.glob, MAX_GLOB_LENGTH))
        throw invalid("the glob is too long");
      return;
    case "edit":
      for (const text of [operation.oldContent, operation.newContent]) {
        if (!text.isWellFormed()) throw invalid("not Unicode text");
        if (Buffer.byteLength(text) > MAX_EDIT_SIZE) throw invalid("a text to edit has at most 10 MB");
      }
      if (operation.oldContent === "") throw invalid("the text to replace is empty");
      return;
    case "restore":
      if (operation.before.kind === "file" && operation.content === undefined)
        throw invalid("a file needs its content");
      return;
    default:
  }
}

function checkPath(path: string): void {
  if (path === ".") return;
  if (!isText(path, MAX_PATH_LEN)) throw invalid(`${quotePath(path)} is too long, or no Unicode text`);
  if (path.startsWith("/")) throw new KernelError("PATH_ESCAPE", `${quotePath(path)} does not start in the workspace`);
  for (const part of path.split("/")) {
    if (part === "..")
      throw new KernelError("PATH_ESCAPE", `${quotePath(path)} may lead out of the workspace; do without ..`);
    if (part !== "" && part !== "." && !part.includes("\0") && Buffer.byteLength(part) <= MAX_PART_BYTES) continue;
    throw invalid(`${quotePath(path)} has a part that is empty, \`.\`, too long, or with a zero byte`);
  }
}

function isText(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.isWellFormed();
}

function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isSafeInteger(count) || count < 0) throw invalid(`${name} is not a count`);
  }
}

function invalid(message: string): KernelError {
  return new KernelError("INVALID_INPUT", message);
}

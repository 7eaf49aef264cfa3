import { isJsonObject, type JsonObject, KernelError } from "@narthex/contracts";
import type { FileState, ReconcileContext, ToolSession, UnsettledIntent } from "@narthex/kernel";
import { workspacePath } from "./workspace-path.ts";

/**
 * After a crash: the input of an interrupted call that changes a file, and access to the file's present state. Single
 * changes are atomic, so the present state usually shows whether the change happened. It does not for changes of
 * several steps, or for changes whose result depends on the earlier content.
 */
export interface UnsettledChange {
  readonly input: JsonObject;
  stateOf(field: string): Promise<FileState>;
  read(field: string): Promise<Uint8Array>;
  pathOf(field: string): string;
}

export function toUnsettledChange({ input, session }: UnsettledIntent, context: ReconcileContext): UnsettledChange {
  if (!isJsonObject(input)) throw new KernelError("INTERNAL", "the input of a lost call is not an object");
  const pathOf = (field: string): string => pathIn(input, field, session);
  return {
    input,
    pathOf,
    stateOf: (field) => context.inspectFile(pathOf(field)),
    read: (field) => context.readFile(pathOf(field)),
  };
}

function pathIn(input: JsonObject, field: string, session: ToolSession): string {
  const path = input[field];
  if (typeof path !== "string") throw new KernelError("INTERNAL", "the input of a lost call names no path");
  return workspacePath(path, session);
}

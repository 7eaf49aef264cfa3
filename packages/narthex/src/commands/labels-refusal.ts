import { isKernelError } from "@narthex/contracts";
import { CommandError } from "../terminal/command-error.ts";

/** Replaces the advice about sessions of a WORKSPACE_REFUSED error with advice about labels. */
export function explainRefusedDirectory(error: unknown): never {
  if (!isKernelError(error) || error.code !== "WORKSPACE_REFUSED") throw error;
  throw new CommandError(error.code, error.message, {
    cause: error,
    next: "name the directory of a workspace; `narthex labels show DIR` says which labels hold there",
  });
}

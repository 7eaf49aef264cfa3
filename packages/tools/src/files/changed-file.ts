import { type JsonObject, KernelError } from "@narthex/contracts";
import type { FileResult, FileChange, FileState } from "@narthex/kernel";

export function changesOf(answer: FileResult): {
  readonly changes: readonly FileChange[];
  readonly lines: readonly number[];
} {
  if (answer.kind !== "changed") throw new KernelError("INTERNAL", "a change was not answered by what was changed");
  return answer;
}

/**
 * The hashes of one changed file for the tool's result. A hash is null where the file did not exist or no longer
 * exists.
 */
export function hashesOf({ before, after }: FileChange): JsonObject {
  return { hash_after: hashOf(after), hash_before: hashOf(before) };
}

function hashOf(state: FileState): string | null {
  return state.kind === "file" ? state.hash : null;
}

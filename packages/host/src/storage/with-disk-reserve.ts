import type { FileOperation, WorkspaceFiles } from "@narthex/kernel";
import type { DiskSpace } from "./disk-space.ts";

/**
 * Wraps workspace files so that writes are rejected while a disk has less than its reserve. Deleting is still possible.
 */
export function withDiskReserve(files: WorkspaceFiles, space: DiskSpace, kernelHome: string): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      if (ADDS.has(operation.kind)) await space.requireReserve([place.workspace, kernelHome]);
      return await files.prepare(place, operation, signal);
    },
  };
}

const ADDS: ReadonlySet<FileOperation["kind"]> = new Set(["write", "edit"]);

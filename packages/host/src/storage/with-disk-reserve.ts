import type { FileOperation, WorkspaceFiles } from "@narthex/kernel";
import type { DiskSpace } from "./disk-space.ts";

/** Files of workspaces, of which nothing new is written while a disk has less than its reserve. Deleting goes on. */
export function withDiskReserve(files: WorkspaceFiles, space: DiskSpace, kernelHome: string): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      if (ADDS.has(operation.kind)) await space.requireReserve([place.workspace, kernelHome]);
      return await files.prepare(place, operation, signal);
    },
  };
}

const ADDS: ReadonlySet<FileOperation["kind"]> = new Set(["write", "edit"]);

import type { Containment } from "../sandbox/open-containment.ts";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { DiskSpace } from "./disk-space.ts";
import { measureGrowth, type WorkspaceTree } from "./measure-growth.ts";
import { StorageArea } from "./storage-area.ts";

export interface GrowthOptions {
  readonly containment: Pick<Containment, "start">;
  readonly tree: WorkspaceTree;
  readonly maxBytes: number;
  readonly space: DiskSpace;
}

/** Measures what the successive calls of one program add to a workspace. */
export class WorkspaceGrowth {
  readonly area: StorageArea;
  #sinceMs = Date.now();

  constructor({ containment, tree, maxBytes, space }: GrowthOptions) {
    const measure = (): Promise<number> => measureGrowth(containment, tree, this.#sinceMs);
    this.area = new StorageArea(
      { limit: "workspace", path: tree.source, target: WORKSPACE_PATH, maxBytes, knownBytes: 0, measure },
      space,
    );
  }

  /** Starts measuring for the next call. */
  restart(): void {
    this.#sinceMs = Date.now();
    this.area.restart();
  }
}

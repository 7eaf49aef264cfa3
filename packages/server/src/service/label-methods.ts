import type { ServiceImpl } from "@connectrpc/connect";
import type { AdminService } from "@narthex/contracts";
import { type Kernel, effectiveLabels } from "@narthex/kernel";

type LabelMethods = Pick<ServiceImpl<typeof AdminService>, "getWorkspaceLabels" | "clearWorkspaceLabels">;

export function createLabelMethods(kernel: Kernel): LabelMethods {
  return {
    async getWorkspaceLabels({ workspace }) {
      return { labels: effectiveLabels(await kernel.listWorkspaceLabels(workspace)) };
    },
    async clearWorkspaceLabels({ workspace, by }) {
      const { labels } = await kernel.clearWorkspaceLabels({ workspace, by });
      return { labels: [...labels] };
    },
  };
}

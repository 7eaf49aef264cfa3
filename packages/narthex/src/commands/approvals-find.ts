import type { ApprovalInfo } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";

export async function findApproval(kernel: KernelConnection, approvalId: string): Promise<ApprovalInfo> {
  const { approvals } = await kernel.listApprovals();
  const found = approvals.find((info) => info.approvalId === approvalId);
  if (found !== undefined) return found;
  throw new CommandError("APPROVAL_NOT_FOUND", `no open question has the id \`${approvalId.slice(0, 80)}\``);
}

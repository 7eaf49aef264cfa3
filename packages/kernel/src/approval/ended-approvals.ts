import type { ApprovalOutcome } from "./approval-outcome.ts";

/** How many are remembered. */
const MAX_ENDED = 1000;

/** What became of questions that are no longer open, for whoever answers too late. */
export interface EndedApprovals {
  note(outcome: ApprovalOutcome): void;
  find(approvalId: string): string | undefined;
}

export function createEndedApprovals(): EndedApprovals {
  const ended = new Map<string, string>();
  return {
    note({ approvalId, status, door, approver }) {
      ended.set(approvalId, `${status}${approver === "" ? "" : ` by \`${approver}\``} at door \`${door}\``);
      const [oldest] = ended.keys();
      if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
    },
    find: (approvalId) => ended.get(approvalId),
  };
}

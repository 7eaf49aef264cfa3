import type { ApprovalOutcome } from "./approval-outcome.ts";

/** Maximum number of remembered outcomes. */
const MAX_ENDED = 1000;

/** Outcomes of requests that are no longer open, for decisions that come too late. */
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

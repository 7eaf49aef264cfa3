import type { EntryDraft } from "../ledger/record-draft.ts";
import type { ApprovalTerm } from "./approval.ts";

/** How a question ended, or that it has not for a caller who is told to come back. */
export interface ApprovalOutcome {
  readonly approvalId: string;
  readonly status: "approved" | "denied" | "timed_out" | "withdrawn" | "pending";
  readonly door: string;
  readonly approver: string;
  readonly reason?: string | undefined;
  /** Of a yes. */
  readonly term?: ApprovalTerm | undefined;
  /** The answer for longer that was given. */
  readonly standingId?: string | undefined;
}

/** The door of what no person did. */
export const KERNEL_DOOR = "kernel";

/** With `allows` where the answer is given, without where a call rests on it. */
export function resolvedEntry(outcome: ApprovalOutcome, allows = ""): EntryDraft {
  const { approvalId, status, door, approver, term = "", standingId = "" } = outcome;
  return {
    case: "approvalResolved",
    value: { approvalId, answer: status, door, approver, scope: term, standingId, allows },
  };
}

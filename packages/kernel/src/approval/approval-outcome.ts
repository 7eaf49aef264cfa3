import type { EntryDraft } from "../ledger/record-draft.ts";
import type { ApprovalTerm } from "./approval.ts";

/** The outcome of an approval request; `pending` if the caller has to repeat the call to learn the decision. */
export interface ApprovalOutcome {
  readonly approvalId: string;
  readonly status: "approved" | "denied" | "timed_out" | "withdrawn" | "pending";
  readonly door: string;
  readonly approver: string;
  readonly reason?: string | undefined;
  /** Set when approved. */
  readonly term?: ApprovalTerm | undefined;
  /** Id of the standing approval that was granted or used. */
  readonly standingId?: string | undefined;
}

/** The door recorded for outcomes that no user decided. */
export const KERNEL_DOOR = "kernel";

/**
 * Creates the entry of an outcome. `allows` is set where the decision is recorded, and empty where a call uses an
 * existing approval.
 */
export function resolvedEntry(outcome: ApprovalOutcome, allows = ""): EntryDraft {
  const { approvalId, status, door, approver, term = "", standingId = "" } = outcome;
  return {
    case: "approvalResolved",
    value: { approvalId, answer: status, door, approver, scope: term, standingId, allows },
  };
}

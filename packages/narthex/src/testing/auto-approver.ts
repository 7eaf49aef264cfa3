import type { ApprovalDecision, ApprovalRequest, Approver } from "@narthex/kernel";

/** Decides in place of a person, and keeps the requests it got. */
export interface AutoApprover extends Approver {
  /** All approval requests so far, oldest first. */
  readonly requests: readonly ApprovalRequest[];
}

/** True approves and false denies; an object also gives a reason for a denial or how long an approval lasts. */
export type AutoDecision = boolean | Omit<ApprovalDecision, "approver">;

/**
 * Makes the same decision for every approval request, or decides about each. An error thrown by `decide` is a denial.
 */
export function createAutoApprover(
  decide: AutoDecision | ((question: ApprovalRequest) => AutoDecision | Promise<AutoDecision>),
): AutoApprover {
  const questions: ApprovalRequest[] = [];
  return {
    door: "test",
    requests: questions,
    async ask(question) {
      questions.push(question);
      const answer = typeof decide === "function" ? await decide(question) : decide;
      const { approved, ...more } = typeof answer === "boolean" ? { approved: answer } : answer;
      return { ...more, approved, approver: "auto-approver" };
    },
  };
}

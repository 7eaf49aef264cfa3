import type { ApprovalDecision, ApprovalRequest, Approver } from "@narthex/kernel";

/** Answers in the place of a person, and keeps what it was asked. */
export interface AutoApprover extends Approver {
  /** Every question so far, the oldest first. */
  readonly requests: readonly ApprovalRequest[];
}

/** Yes or no; or more of an answer: a reason for a no, how long a yes is good for. */
export type AutoDecision = boolean | Omit<ApprovalDecision, "approver">;

/** Says the same to every question, or decides about each. What `decide` throws is a no. */
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

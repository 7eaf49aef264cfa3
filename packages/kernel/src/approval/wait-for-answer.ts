import type { ApprovalOutcome } from "./approval-outcome.ts";
import type { OpenQuestion } from "./open-question.ts";

/**
 * The answer to a question, as long as its caller waits: `pending` once it has waited long enough, `withdrawn` if it
 * leaves.
 */
export async function waitForAnswer(
  question: OpenQuestion,
  { signal, waitMs }: { readonly signal: AbortSignal | undefined; readonly waitMs: number },
): Promise<ApprovalOutcome> {
  const early = { approvalId: question.shown.approvalId, door: "", approver: "" };
  const impatient = Promise.withResolvers<ApprovalOutcome>();
  const leave = (): void => impatient.resolve({ ...early, answer: "withdrawn" });
  let timer: NodeJS.Timeout | undefined;
  if (signal?.aborted === true) leave();
  else {
    signal?.addEventListener("abort", leave, { once: true });
    timer = setTimeout(() => impatient.resolve({ ...early, answer: "pending" }), waitMs);
  }
  try {
    return await Promise.race([question.answered.promise, impatient.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

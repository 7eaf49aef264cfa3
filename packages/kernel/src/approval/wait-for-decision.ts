import type { ApprovalOutcome } from "./approval-outcome.ts";
import type { PendingApproval } from "./pending-approval.ts";

/** Waits for the decision on a request: `pending` after `waitMs`, `withdrawn` if the caller leaves. */
export async function waitForDecision(
  approval: PendingApproval,
  { signal, waitMs }: { readonly signal: AbortSignal | undefined; readonly waitMs: number },
): Promise<ApprovalOutcome> {
  const early = { approvalId: approval.request.approvalId, door: "", approver: "" };
  const impatient = Promise.withResolvers<ApprovalOutcome>();
  const leave = (): void => impatient.resolve({ ...early, status: "withdrawn" });
  let timer: NodeJS.Timeout | undefined;
  if (signal?.aborted === true) leave();
  else {
    signal?.addEventListener("abort", leave, { once: true });
    timer = setTimeout(() => impatient.resolve({ ...early, status: "pending" }), waitMs);
  }
  try {
    return await Promise.race([approval.outcome.promise, impatient.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

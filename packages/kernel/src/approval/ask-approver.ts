import type { Approver } from "../ports.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalResolution } from "./approval.ts";

const MAX_DOOR = 64;
export const MAX_REASON = 500;
export const MAX_APPROVER = 256;

/**
 * Asks an embedder's callback for a decision. Always resolves: a failing callback counts as a denial. Undefined if the
 * request was withdrawn before the callback returned.
 */
export async function askApprover(
  request: ApprovalRequest,
  approver: Approver,
  signal: AbortSignal,
): Promise<ApprovalResolution | undefined> {
  const { approvalId } = request;
  const door = toBoundedText(approver.door, MAX_DOOR) ?? "callback";
  try {
    const answer = await approver.ask(request, signal);
    return signal.aborted ? undefined : { approvalId, door, ...readDecision(answer, request) };
  } catch {
    if (signal.aborted) return undefined;
    return { approvalId, door, answer: "deny", approver: "", reason: "the approver could not be asked" };
  }
}

type CallbackDecision = Pick<ApprovalResolution, "answer" | "approver" | "reason" | "words">;

/** SECURITY: anything but a plain `true` is a denial; an embedder's callback may return nonsense. */
function readDecision(decision: Partial<ApprovalDecision> | undefined, request: ApprovalRequest): CallbackDecision {
  const { approved, term, words }: { approved?: unknown; term?: unknown; words?: unknown } = decision ?? {};
  const said = {
    approver: toBoundedText(decision?.approver, MAX_APPROVER) ?? "",
    reason: toBoundedText(decision?.reason, MAX_REASON),
  };
  if (approved !== true) return { answer: "deny", ...said };
  if (term === undefined || term === "once") return { answer: "once", ...said };
  // Where a longer approval is not offered, the call is approved once.
  if (term === "rule") return { answer: request.ruleText === "" ? "once" : "rule", ...said };
  if (term !== "session") return { answer: "deny", ...said };
  if (request.sessionScope === "") return { answer: "once", ...said };
  return { answer: "session", ...said, words: typeof words === "number" ? words : undefined };
}

/** Converts text for the ledger: well formed, and bounded. */
export function toBoundedText(value: unknown, maxLength: number): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, maxLength).toWellFormed() : undefined;
}

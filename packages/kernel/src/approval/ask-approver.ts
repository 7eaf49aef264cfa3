import { toHex } from "@narthex/contracts";
import type { Approver } from "../ports.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { ApprovalSubject } from "./approval-subject.ts";
import type { ApprovalOutcome } from "./approvals.ts";

export interface ApprovalAsk {
  readonly approvalId: string;
  readonly subject: ApprovalSubject;
  readonly expiresAtMs: number;
  readonly expiryMs: number;
  /** Aborted by whoever no longer wants to know, and when the time is over. */
  readonly withdraw: AbortController;
}

const MAX_REASON = 500;
const MAX_APPROVER = 256;

/** Puts a question to the approver. Always resolves: a door that fails, or answers too late, has said no. */
export async function askApprover(ask: ApprovalAsk, approver: Approver): Promise<ApprovalOutcome> {
  const { approvalId, withdraw } = ask;
  const about = { approvalId, door: approver.door, approver: "" };
  const early = Promise.withResolvers<ApprovalOutcome>();
  const timer = setTimeout(() => {
    early.resolve({ ...about, answer: "timed_out" });
    withdraw.abort();
  }, ask.expiryMs).unref();
  withdraw.signal.addEventListener("abort", () => early.resolve({ ...about, answer: "withdrawn" }), { once: true });
  try {
    const asked = approver.ask(questionOf(ask), withdraw.signal);
    const answered = Promise.resolve(asked).then((answer) => ({ ...about, ...read(answer) }));
    return await Promise.race([answered, early.promise]);
  } catch {
    return { ...about, answer: "denied", reason: "the approver could not be asked" };
  } finally {
    clearTimeout(timer);
  }
}

function questionOf({ approvalId, subject, expiresAtMs }: ApprovalAsk): ApprovalQuestion {
  return {
    ...subject,
    approvalId,
    definitionHash: toHex(subject.definitionHash),
    inputDigest: toHex(subject.inputDigest),
    policyHash: toHex(subject.policyHash),
    expiresAtMs,
  };
}

/** SECURITY: anything but a plain `true` is a no; an embedder's callback may return nonsense. */
function read(answer: Partial<ApprovalAnswer> | undefined): Pick<ApprovalOutcome, "answer" | "approver" | "reason"> {
  const approved: unknown = answer?.approved;
  return {
    answer: approved === true ? "approved" : "denied",
    approver: textOf(answer?.approver, MAX_APPROVER) ?? "",
    reason: textOf(answer?.reason, MAX_REASON),
  };
}

function textOf(value: unknown, most: number): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, most).toWellFormed() : undefined;
}

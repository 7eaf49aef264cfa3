import { createId, type JsonValue, toHex } from "@narthex/contracts";
import type { Approver, Random } from "../ports.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";

/** What an approval is bound to: it is good for exactly this and nothing else. */
export interface ApprovalSubject {
  readonly kind: "human" | "console";
  readonly sessionId: string;
  readonly agent: string;
  readonly user: string;
  readonly workspace: string;
  readonly tool: string;
  readonly definitionHash: Uint8Array;
  readonly input: JsonValue;
  readonly inputDigest: Uint8Array;
  readonly policyHash: Uint8Array;
  readonly ruleIds: readonly string[];
}

export interface ApprovalOutcome {
  readonly approvalId: string;
  readonly answer: "approved" | "denied" | "timed_out" | "withdrawn" | "pending";
  readonly door: string;
  readonly approver: string;
  readonly reason?: string | undefined;
}

/** What is written down before anyone is asked. */
export interface RequestedApproval {
  readonly approvalId: string;
  readonly expiresAtMs: number;
  readonly kind: string;
  readonly policyHash: Uint8Array;
  readonly definitionHash: Uint8Array;
}

export interface Approvals {
  /** Someone can be asked. */
  readonly available: boolean;
  /** Uses up a yes to exactly this subject. */
  redeem(subject: ApprovalSubject): boolean;
  /**
   * Asks, after `requested` has made the question durable. A caller who was told `pending` and comes back with the
   * same call joins the question that is already out.
   */
  ask(
    subject: ApprovalSubject,
    signal: AbortSignal | undefined,
    requested: (approval: RequestedApproval) => Promise<void>,
  ): Promise<ApprovalOutcome>;
  close(): void;
}

export interface ApprovalOptions {
  readonly approver: Approver | undefined;
  readonly random: Random;
  nowMs(): number;
  /** How long a question stays open. */
  readonly expiryMs: number;
  /** How long a caller is kept waiting before it is told to come back. */
  readonly waitMs: number;
}

interface Pending {
  readonly approvalId: string;
  readonly key: string;
  readonly answer: Promise<ApprovalOutcome>;
  /** Aborting withdraws the question. */
  readonly withdraw: AbortController;
  waiting: boolean;
}

const MAX_PENDING = 1000;

export function createApprovals(options: ApprovalOptions): Approvals {
  const { approver } = options;
  const pending = new Map<string, Pending>();
  /** Yeses not used yet, by subject; each with when it lapses. */
  const granted = new Map<string, number>();

  function open(subject: ApprovalSubject, asking: Approver, requested: RequestedApproval): Pending {
    const withdraw = new AbortController();
    const question: ApprovalQuestion = {
      ...subject,
      approvalId: requested.approvalId,
      definitionHash: toHex(subject.definitionHash),
      inputDigest: toHex(subject.inputDigest),
      policyHash: toHex(subject.policyHash),
      expiresAtMs: requested.expiresAtMs,
    };
    const answer = answerTo(question, asking, withdraw, options.expiryMs);
    const opened: Pending = { approvalId: requested.approvalId, key: keyOf(subject), answer, withdraw, waiting: true };
    pending.set(opened.approvalId, opened);
    // An answer that nobody comes back for is kept no longer than it would be good for.
    void answer.then(() => setTimeout(() => pending.delete(opened.approvalId), options.expiryMs).unref());
    return opened;
  }

  async function wait(question: Pending, signal: AbortSignal | undefined): Promise<ApprovalOutcome> {
    question.waiting = true;
    const outcome = await firstOf(question, signal, options.waitMs);
    question.waiting = false;
    if (outcome.answer === "pending") return outcome;
    pending.delete(question.approvalId);
    if (outcome.answer === "approved") granted.set(question.key, options.nowMs() + options.expiryMs);
    return outcome;
  }

  return {
    available: approver !== undefined,
    redeem(subject) {
      const key = keyOf(subject);
      const lapsesAtMs = granted.get(key);
      granted.delete(key);
      return lapsesAtMs !== undefined && options.nowMs() < lapsesAtMs;
    },
    async ask(subject, signal, requested) {
      const key = keyOf(subject);
      for (const open of pending.values()) if (open.key === key && !open.waiting) return wait(open, signal);
      if (approver === undefined || pending.size >= MAX_PENDING) {
        return { approvalId: "", answer: "denied", door: "", approver: "", reason: "too many questions are open" };
      }
      const approval: RequestedApproval = {
        approvalId: createId("apr", (length) => options.random.bytes(length)),
        expiresAtMs: options.nowMs() + options.expiryMs,
        kind: subject.kind,
        policyHash: subject.policyHash,
        definitionHash: subject.definitionHash,
      };
      await requested(approval);
      return wait(open(subject, approver, approval), signal);
    },
    close() {
      for (const question of pending.values()) question.withdraw.abort();
      pending.clear();
    },
  };
}

/** SECURITY: every field that an approval is bound to is in here; a change in any of them finds no approval. */
function keyOf(subject: ApprovalSubject): string {
  const digests = [subject.definitionHash, subject.inputDigest, subject.policyHash].map(toHex);
  return [subject.sessionId, subject.tool, subject.kind, ...digests].join("\n");
}

async function answerTo(
  question: ApprovalQuestion,
  approver: Approver,
  withdraw: AbortController,
  expiryMs: number,
): Promise<ApprovalOutcome> {
  const about = { approvalId: question.approvalId, door: approver.door };
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<"timed_out">((resolve) => {
    timer = setTimeout(() => resolve("timed_out"), expiryMs);
  });
  try {
    const answer = await Promise.race([approver.ask(question, withdraw.signal), expired]);
    if (answer === "timed_out") {
      withdraw.abort();
      return { ...about, answer, approver: "" };
    }
    return { ...about, ...read(answer) };
  } catch {
    return { ...about, answer: "denied", approver: "", reason: "the approver could not be asked" };
  } finally {
    clearTimeout(timer);
  }
}

/** SECURITY: anything but a plain `true` is a no; an embedder's callback may return nonsense. */
function read(answer: ApprovalAnswer): Pick<ApprovalOutcome, "answer" | "approver" | "reason"> {
  const approver = typeof answer?.approver === "string" ? answer.approver.slice(0, 256) : "";
  return { answer: answer?.approved === true ? "approved" : "denied", approver, reason: answer?.reason };
}

async function firstOf(question: Pending, signal: AbortSignal | undefined, waitMs: number): Promise<ApprovalOutcome> {
  const early = { approvalId: question.approvalId, door: "", approver: "" };
  let timer: NodeJS.Timeout | undefined;
  let left: (() => void) | undefined;
  const impatient = new Promise<ApprovalOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ ...early, answer: "pending" }), waitMs);
    left = () => {
      question.withdraw.abort();
      resolve({ ...early, answer: "withdrawn" });
    };
    if (signal?.aborted === true) left();
    else signal?.addEventListener("abort", left, { once: true });
  });
  try {
    return await Promise.race([question.answer, impatient]);
  } finally {
    clearTimeout(timer);
    if (left !== undefined) signal?.removeEventListener("abort", left);
  }
}

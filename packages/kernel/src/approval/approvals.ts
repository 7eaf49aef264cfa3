import { createId, toHex } from "@narthex/contracts";
import type { Approver, Random } from "../ports.ts";
import type { ApprovalSubject } from "./approval-subject.ts";
import { askApprover } from "./ask-approver.ts";

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

export interface ApprovalWait {
  /** Aborts when nobody waits for the call any more. */
  readonly signal: AbortSignal | undefined;
  /** At most so long, and never longer than the kernel keeps a caller waiting. */
  readonly waitMs: number;
  /** Makes the question durable, before it is asked. */
  requested(approval: RequestedApproval): Promise<void>;
}

export interface Approvals {
  /** Whether anyone may ever answer such a question. */
  isAvailable(kind: ApprovalSubject["kind"]): boolean;
  /** Uses up a yes to exactly this subject. */
  redeem(approvalId: string, subject: ApprovalSubject): boolean;
  /**
   * A caller who was told `pending` and comes back with the same call joins the question that is already out.
   * Undefined if nobody is asked: there is no door for it, or too many questions are open.
   */
  ask(subject: ApprovalSubject, wait: ApprovalWait): Promise<ApprovalOutcome | undefined>;
  close(): void;
}

export interface ApprovalOptions {
  readonly approver: Approver | undefined;
  readonly random: Random;
  nowMs(): number;
  /** How long a question stays open, and how long its answer is good for: both from when it was asked. */
  readonly expiryMs: number;
  /** How long a caller is kept waiting before it is told to come back. */
  readonly waitMs: number;
}

interface Question {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly key: string;
  readonly expiresAtMs: number;
  /** Aborting withdraws the question. */
  readonly withdraw: AbortController;
  answer: Promise<ApprovalOutcome> | undefined;
  expiry: NodeJS.Timeout | undefined;
  /** One caller at a time waits for a question: one yes is one call. */
  isAwaited: boolean;
}

const CONSOLE_DOOR = "console";
const MAX_OPEN = 1000;
/** SECURITY: one agent that asks and asks must not use up what people of other sessions can be asked. */
const MAX_OPEN_PER_SESSION = 32;

export function createApprovals(options: ApprovalOptions): Approvals {
  const { approver } = options;
  const open = new Map<string, Question>();
  /** Yeses not used yet. */
  const granted = new Map<string, Pick<Question, "key" | "expiresAtMs">>();

  /** SECURITY: a rule that demands the console is not satisfied by whoever happens to be asked. */
  function isAvailable(kind: ApprovalSubject["kind"]): boolean {
    return approver !== undefined && (kind === "human" || approver.door === CONSOLE_DOOR);
  }

  function create(subject: ApprovalSubject): Question {
    const approvalId = createId("apr", (length) => options.random.bytes(length));
    const question: Question = {
      approvalId,
      sessionId: subject.sessionId,
      key: keyOf(subject),
      expiresAtMs: options.nowMs() + options.expiryMs,
      withdraw: new AbortController(),
      answer: undefined,
      expiry: undefined,
      isAwaited: true,
    };
    open.set(approvalId, question);
    return question;
  }

  function close(question: Question): void {
    clearTimeout(question.expiry);
    open.delete(question.approvalId);
  }

  function isCrowded(sessionId: string): boolean {
    if (open.size >= MAX_OPEN) return true;
    let ofSession = 0;
    for (const question of open.values()) if (question.sessionId === sessionId) ofSession++;
    return ofSession >= MAX_OPEN_PER_SESSION;
  }

  function findReturning(key: string): Question | undefined {
    for (const question of open.values()) {
      if (question.key === key && !question.isAwaited && options.nowMs() < question.expiresAtMs) return question;
    }
    return undefined;
  }

  async function begin(subject: ApprovalSubject, asking: Approver, wait: ApprovalWait): Promise<Question> {
    const question = create(subject);
    const { approvalId, expiresAtMs } = question;
    try {
      const { kind, policyHash, definitionHash } = subject;
      await wait.requested({ approvalId, expiresAtMs, kind, policyHash, definitionHash });
    } catch (fault) {
      close(question);
      throw fault;
    }
    if (wait.signal?.aborted === true) return question;
    const { withdraw } = question;
    const { expiryMs } = options;
    question.answer = askApprover({ approvalId, expiresAtMs, expiryMs, subject, withdraw }, asking);
    // An answer that nobody comes back for is kept no longer than it is good for.
    question.expiry = setTimeout(() => close(question), expiryMs).unref();
    return question;
  }

  async function settle(question: Question, wait: ApprovalWait): Promise<ApprovalOutcome> {
    question.isAwaited = true;
    const outcome = await firstOf(question, wait, Math.min(options.waitMs, wait.waitMs));
    question.isAwaited = false;
    if (outcome.answer === "pending") return outcome;
    close(question);
    if (outcome.answer !== "approved") return outcome;
    // SECURITY: a yes that comes, or is fetched, after its time is none.
    if (options.nowMs() >= question.expiresAtMs) return { ...outcome, answer: "timed_out" };
    granted.set(question.approvalId, question);
    // A call that is decided otherwise after its wait never uses its yes.
    setTimeout(() => granted.delete(question.approvalId), options.expiryMs).unref();
    return outcome;
  }

  return {
    isAvailable,
    redeem(approvalId, subject) {
      const yes = granted.get(approvalId);
      granted.delete(approvalId);
      return yes !== undefined && yes.key === keyOf(subject) && options.nowMs() < yes.expiresAtMs;
    },
    async ask(subject, wait) {
      const returning = findReturning(keyOf(subject));
      if (returning !== undefined) return settle(returning, wait);
      if (approver === undefined || !isAvailable(subject.kind) || isCrowded(subject.sessionId)) return undefined;
      return settle(await begin(subject, approver, wait), wait);
    },
    close() {
      for (const question of open.values()) {
        question.withdraw.abort();
        close(question);
      }
      granted.clear();
    },
  };
}

/**
 * SECURITY: every field that an approval is bound to is in here; a change in any of them finds no approval. The policy
 * stands here as what it answered: one that was changed and answers the same leaves an approval good.
 */
function keyOf({ sessionId, tool, kind, definitionHash, inputDigest, ruleIds }: ApprovalSubject): string {
  return [sessionId, tool, kind, toHex(definitionHash), toHex(inputDigest), ...ruleIds].join("\n");
}

async function firstOf(question: Question, { signal }: ApprovalWait, waitMs: number): Promise<ApprovalOutcome> {
  const early = { approvalId: question.approvalId, door: "", approver: "" };
  let timer: NodeJS.Timeout | undefined;
  const impatient = Promise.withResolvers<ApprovalOutcome>();
  const leave = (): void => {
    question.withdraw.abort();
    impatient.resolve({ ...early, answer: "withdrawn" });
  };
  if (signal?.aborted === true || question.answer === undefined) leave();
  else {
    signal?.addEventListener("abort", leave, { once: true });
    timer = setTimeout(() => impatient.resolve({ ...early, answer: "pending" }), waitMs);
  }
  try {
    return await Promise.race(
      question.answer === undefined ? [impatient.promise] : [question.answer, impatient.promise],
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

import { toHex } from "@narthex/contracts";
import type { ApprovalQuestion } from "./approval.ts";
import { describeScope, keepScope } from "./approval-scope.ts";
import { type ApprovalSubject, keyOf } from "./approval-subject.ts";
import type { ApprovalOutcome } from "./approval-outcome.ts";
import { canBind, describeFiles } from "./approved-files.ts";
import { ruleText } from "./rule-text.ts";

/** A question that is out. */
export interface OpenQuestion {
  readonly shown: ApprovalQuestion;
  readonly subject: ApprovalSubject;
  readonly key: string;
  /** Aborted when an answer is no longer wanted. */
  readonly withdraw: AbortController;
  /** Resolves once the answer is durable. */
  readonly answered: PromiseWithResolvers<ApprovalOutcome>;
  expiry: NodeJS.Timeout | undefined;
  /** One caller at a time waits for a question: one yes is one call. */
  isAwaited: boolean;
  /** INVARIANT: set by whoever answers first, without waiting for anything before; nobody answers after that. */
  isAnswered: boolean;
  /** There is an answer, and it is being made durable. */
  isConcluding: boolean;
  /** The answer was no, and is kept for whoever asked. */
  isRefused: boolean;
  /** The clients that answered by themselves, the latest last, each in a line for people. */
  readonly declines: Map<string, string>;
  /** Nobody answered it in time, or nobody wants to know: it is not joined any more. */
  isGone: boolean;
}

export interface QuestionTimes {
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

export function createQuestion(
  approvalId: string,
  subject: ApprovalSubject,
  times: QuestionTimes,
  options: { readonly canWriteRules: boolean; readonly notes: readonly string[] },
): OpenQuestion {
  const answered = Promise.withResolvers<ApprovalOutcome>();
  // Nobody may be waiting when the store fails.
  answered.promise.catch(() => undefined);
  return {
    shown: {
      ...shownOf(approvalId, subject, times, options.canWriteRules ? ruleText(approvalId, subject) : ""),
      notes: options.notes,
    },
    subject,
    key: keyOf(subject),
    withdraw: new AbortController(),
    answered,
    expiry: undefined,
    isAwaited: true,
    isAnswered: false,
    isConcluding: false,
    isRefused: false,
    declines: new Map(),
    isGone: false,
  };
}

function shownOf(
  approvalId: string,
  subject: ApprovalSubject,
  times: QuestionTimes,
  rule: string,
): Omit<ApprovalQuestion, "notes"> {
  const { inputDigest } = subject;
  return {
    approvalId,
    sessionId: subject.sessionId,
    requestId: subject.requestId,
    tenant: subject.tenant,
    user: subject.user,
    agent: subject.agent,
    workspace: subject.workspace,
    tool: subject.tool,
    definitionHash: toHex(subject.definitionHash),
    // SECURITY: a copy. Whoever shows it may change what they were given, and what runs is what was asked for.
    // Tested by "by whoever asks the person, are not what runs".
    input: structuredClone(subject.input),
    inputDigest: toHex(inputDigest),
    policyHash: toHex(subject.policyHash),
    ruleIds: subject.ruleIds,
    messages: subject.messages,
    always: subject.always,
    kind: subject.kind,
    safetyTier: subject.tier,
    effects: subject.effects,
    labels: subject.labels,
    ...times,
    sessionScope: whyNotForSession(subject) === undefined ? sessionScopeOf(subject) : "",
    ruleText: rule,
  };
}

function sessionScopeOf({ scope, inputDigest, files }: ApprovalSubject): string {
  return `${describeScope(keepScope(scope, inputDigest))}${describeFiles(files)}`;
}

/** Why no answer for the session can be given to such a call; undefined if one can. */
export function whyNotForSession({ always, files }: ApprovalSubject): string | undefined {
  if (always.length > 0) return `${always.join(", ")} asks for every such call`;
  return canBind(files) ? undefined : "the content of a program that it runs cannot be looked at";
}

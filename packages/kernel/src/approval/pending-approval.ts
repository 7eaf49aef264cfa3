import { toHex } from "@narthex/contracts";
import type { ApprovalRequest } from "./approval.ts";
import { describeScope, toCoveredScope } from "./approval-scope.ts";
import { type ApprovalSubject, toBindingKey } from "./approval-subject.ts";
import type { ApprovalOutcome } from "./approval-outcome.ts";
import { canBind, describeFiles } from "./approved-files.ts";
import { createRuleText } from "./rule-text.ts";

/** A question that is out. */
export interface PendingApproval {
  readonly request: ApprovalRequest;
  readonly subject: ApprovalSubject;
  readonly key: string;
  /** Aborted when an answer is no longer wanted. */
  readonly withdrawal: AbortController;
  /** Resolves once the answer is durable. */
  readonly outcome: PromiseWithResolvers<ApprovalOutcome>;
  expiry: NodeJS.Timeout | undefined;
  /** One caller at a time waits for a question: one yes is one call. */
  isAwaited: boolean;
  /** INVARIANT: set by whoever answers first, without waiting for anything before; nobody answers after that. */
  isDecided: boolean;
  /** There is an answer, and it is being made durable. */
  isRecordingDecision: boolean;
  /** The answer was no, and is kept for whoever asked. */
  isDenied: boolean;
  /** The clients that answered by themselves, the latest last, each in a line for people. */
  readonly declines: Map<string, string>;
  /** Nobody answered it in time, or nobody wants to know: it is not joined any more. */
  isClosed: boolean;
}

export interface ApprovalTimes {
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

export function createPendingApproval(
  approvalId: string,
  subject: ApprovalSubject,
  times: ApprovalTimes,
  options: { readonly canWriteRules: boolean; readonly notes: readonly string[] },
): PendingApproval {
  const answered = Promise.withResolvers<ApprovalOutcome>();
  // Nobody may be waiting when the store fails.
  answered.promise.catch(() => undefined);
  return {
    request: {
      ...toApprovalRequest(
        approvalId,
        subject,
        times,
        options.canWriteRules ? createRuleText(approvalId, subject) : "",
      ),
      notes: options.notes,
    },
    subject,
    key: toBindingKey(subject),
    withdrawal: new AbortController(),
    outcome: answered,
    expiry: undefined,
    isAwaited: true,
    isDecided: false,
    isRecordingDecision: false,
    isDenied: false,
    declines: new Map(),
    isClosed: false,
  };
}

function toApprovalRequest(
  approvalId: string,
  subject: ApprovalSubject,
  times: ApprovalTimes,
  rule: string,
): Omit<ApprovalRequest, "notes"> {
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
    sessionScope: sessionApprovalProblem(subject) === undefined ? describeSessionScope(subject) : "",
    ruleText: rule,
  };
}

function describeSessionScope({ scope, inputDigest, files }: ApprovalSubject): string {
  return `${describeScope(toCoveredScope(scope, inputDigest))}${describeFiles(files)}`;
}

/** Why no answer for the session can be given to such a call; undefined if one can. */
export function sessionApprovalProblem({ always, files }: ApprovalSubject): string | undefined {
  if (always.length > 0) return `${always.join(", ")} asks for every such call`;
  return canBind(files) ? undefined : "the content of a program that it runs cannot be looked at";
}

import { toHex } from "@narthex/contracts";
import type { ApprovalRequest } from "./approval.ts";
import { describeScope, toCoveredScope } from "./approval-scope.ts";
import { type ApprovalSubject, toBindingKey } from "./approval-subject.ts";
import type { ApprovalOutcome } from "./approval-outcome.ts";
import { canBind, describeFiles } from "./approved-files.ts";
import { createRuleText } from "./rule-text.ts";

/** An open approval request. */
export interface PendingApproval {
  readonly request: ApprovalRequest;
  readonly subject: ApprovalSubject;
  readonly key: string;
  /** Aborted when a decision is no longer wanted. */
  readonly withdrawal: AbortController;
  /** Resolves once the decision is durable. */
  readonly outcome: PromiseWithResolvers<ApprovalOutcome>;
  expiry: NodeJS.Timeout | undefined;
  /** Whether a caller waits for the decision. At most one does: one approval allows one call. */
  isAwaited: boolean;
  /** INVARIANT: set synchronously by the first decision; no later decision is accepted. */
  isDecided: boolean;
  /** The decision is being made durable. */
  isRecordingDecision: boolean;
  /** The request was denied, and the denial is kept for the caller. */
  isDenied: boolean;
  /** The responses of clients without a user, by client, the latest last: one line each, for users. */
  readonly declines: Map<string, string>;
  /** The request expired or was withdrawn: a repeated call no longer joins it. */
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
  // The store may fail while no caller waits; without this the rejection would be unhandled.
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
    // SECURITY: a copy. An approver may change the object it is given, and the call must run with the requested input.
    // Tested by test/attacks/changed-arguments.test.ts.
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

/** Returns why such a call cannot get a session approval; undefined if it can. */
export function sessionApprovalProblem({ always, files }: ApprovalSubject): string | undefined {
  if (always.length > 0) return `${always.join(", ")} asks for every such call`;
  return canBind(files) ? undefined : "the content of a program that it runs cannot be looked at";
}

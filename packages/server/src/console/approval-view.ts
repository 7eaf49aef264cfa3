import type { ApprovalRequest, StandingApproval } from "@narthex/kernel";
import type { ConsoleLimits } from "./console-limits.ts";
import { toInputView } from "./input-view.ts";
import { toTextView } from "./text-view.ts";

/** Converts an approval request for the page. */
export function toApprovalView(question: ApprovalRequest, limits: ConsoleLimits) {
  return {
    id: question.approvalId,
    session: toTextView(question.sessionId),
    tenant: toTextView(question.tenant),
    user: toTextView(question.user),
    agent: toTextView(question.agent),
    workspace: toTextView(question.workspace),
    tool: toTextView(question.tool),
    tier: toTextView(question.safetyTier),
    kind: question.kind,
    effects: question.effects.map(toTextView),
    labels: question.labels.map(toTextView),
    rules: question.ruleIds.map(toTextView),
    messages: question.messages.map(toTextView),
    always: question.always.map(toTextView),
    notes: question.notes.map(toTextView),
    requestedAtMs: question.requestedAtMs,
    expiresAtMs: question.expiresAtMs,
    sessionScope: toTextView(question.sessionScope),
    ruleText: toTextView(question.ruleText),
    input: toInputView(question.input, limits),
  };
}

/** Converts a standing approval for the page. */
export function toStandingView(standing: StandingApproval) {
  return {
    id: standing.standingId,
    scope: standing.scope,
    session: toTextView(standing.sessionId),
    tool: toTextView(standing.tool),
    allows: toTextView(standing.allows),
    door: toTextView(standing.door),
    approver: toTextView(standing.approver),
    givenAtMs: standing.givenAtMs,
  };
}

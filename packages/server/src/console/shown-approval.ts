import type { ApprovalQuestion, StandingApproval } from "@narthex/kernel";
import type { ConsoleLimits } from "./console-limits.ts";
import { shownInput } from "./shown-input.ts";
import { shownText } from "./shown-text.ts";

/** A question as the page shows it. */
export function shownApproval(question: ApprovalQuestion, limits: ConsoleLimits) {
  return {
    id: question.approvalId,
    session: shownText(question.sessionId),
    tenant: shownText(question.tenant),
    user: shownText(question.user),
    agent: shownText(question.agent),
    workspace: shownText(question.workspace),
    tool: shownText(question.tool),
    tier: shownText(question.safetyTier),
    kind: question.kind,
    effects: question.effects.map(shownText),
    labels: question.labels.map(shownText),
    rules: question.ruleIds.map(shownText),
    messages: question.messages.map(shownText),
    always: question.always.map(shownText),
    notes: question.notes.map(shownText),
    requestedAtMs: question.requestedAtMs,
    expiresAtMs: question.expiresAtMs,
    sessionScope: shownText(question.sessionScope),
    ruleText: shownText(question.ruleText),
    input: shownInput(question.input, limits),
  };
}

/** An answer that holds for longer, as the page shows it. */
export function shownStanding(standing: StandingApproval) {
  return {
    id: standing.standingId,
    scope: standing.scope,
    session: shownText(standing.sessionId),
    tool: shownText(standing.tool),
    allows: shownText(standing.allows),
    door: shownText(standing.door),
    approver: shownText(standing.approver),
    givenAtMs: standing.givenAtMs,
  };
}

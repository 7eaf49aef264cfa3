import type { ApprovalResolved, RecordMessage } from "@narthex/contracts";
import type { WatchedCall } from "../watched-calls.ts";
import type { CallerNames } from "./caller-names.ts";
import { shownText } from "./shown-text.ts";

/** A finished call as a line of the page. */
export function shownCall(call: WatchedCall, caller: CallerNames) {
  return {
    index: call.recordIndex,
    timeMs: call.timeMs,
    session: shownText(call.sessionId),
    request: shownText(call.requestId),
    agent: shownText(caller.agent),
    user: shownText(caller.user),
    tool: shownText(call.tool),
    subject: shownText(call.subject),
    decision: call.decision,
    rules: call.rules.map(shownText),
    approver: shownText(call.approver),
    durationMs: call.durationMs,
    success: call.success,
    code: shownText(call.code),
    resultSize: call.resultSize,
  };
}

/** How the questions ended that a record tells of. */
export function shownAnswers(record: RecordMessage) {
  return record.entries
    .flatMap(({ kind }) => (kind.case === "approvalResolved" && kind.value.answer !== "pending" ? [kind.value] : []))
    .map(shownAnswer);
}

function shownAnswer({ approvalId, answer, scope, door, approver }: ApprovalResolved) {
  return { id: approvalId, answer, scope, door: shownText(door), approver: shownText(approver) };
}

import type { ApprovalResolved, RecordMessage } from "@narthex/contracts";
import type { WatchedCall } from "../watched-calls.ts";
import type { CallerNames } from "./caller-names.ts";
import { toTextView } from "./text-view.ts";

/** Converts a finished call to a line of the page. */
export function toCallView(call: WatchedCall, caller: CallerNames) {
  return {
    index: call.recordIndex,
    timeMs: call.timeMs,
    session: toTextView(call.sessionId),
    request: toTextView(call.requestId),
    agent: toTextView(caller.agent),
    user: toTextView(caller.user),
    tool: toTextView(call.tool),
    subject: toTextView(call.subject),
    decision: call.decision,
    rules: call.rules.map(toTextView),
    approver: toTextView(call.approver),
    durationMs: call.durationMs,
    success: call.success,
    code: toTextView(call.code),
    resultSize: call.resultSize,
  };
}

/** Converts the resolutions of approval requests in a record. */
export function toResolutionViews(record: RecordMessage) {
  return record.entries
    .flatMap(({ kind }) => (kind.case === "approvalResolved" && kind.value.answer !== "pending" ? [kind.value] : []))
    .map(toResolutionView);
}

function toResolutionView({ approvalId, answer, scope, door, approver }: ApprovalResolved) {
  return { id: approvalId, answer, scope, door: toTextView(door), approver: toTextView(approver) };
}

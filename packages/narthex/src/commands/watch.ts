import type { JsonObject } from "@narthex/contracts";
import { createCallWatcher, type WatchedCall } from "@narthex/server/watched-calls";
import { followRecords } from "../connection/follow-records.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatBytes } from "../terminal/units.ts";
import { cutText, visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { decodeRecord } from "./record-view.ts";

/** Number of earlier records that are read, so that calls which began before now and end after it are shown in full. */
const LOOKBACK_RECORDS = 500;

export const watchCommand: Command = {
  details: "Runs until it is interrupted, or until nothing reads its output; waits for a kernel where none runs.",
  endsOnClosedOutput: true,
  options: [{ flags: "--session <id>", description: "only this session's calls" }],
  examples: ["narthex watch", "narthex watch --json | jq .code"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const observe = createCallWatcher();
    let now = 0;
    const query = {
      fromIndex: undefined,
      chain: options.text("session"),
      lookBack: LOOKBACK_RECORDS,
      onNow: (nextIndex: number) => {
        now = nextIndex;
      },
    };
    if (!terminal.json) terminal.note(terminal.errorPaint.dim("watching calls; Ctrl-C ends"));
    for await (const stored of followRecords(invocation, query)) {
      const call = observe(decodeRecord(stored));
      if (call === undefined || call.recordIndex < now) continue;
      if (terminal.json) terminal.printJsonLine(callToJson(call));
      else terminal.print(renderCall(call, terminal));
    }
    return EXIT_OK;
  },
};

function callToJson(call: WatchedCall): JsonObject {
  return {
    wall_time_ms: call.timeMs,
    session_id: call.sessionId,
    request_id: call.requestId,
    tool: call.tool,
    subject: call.subject,
    decision: call.decision,
    rule_ids: [...call.rules],
    approver: call.approver,
    duration_ms: call.durationMs,
    success: call.success,
    code: call.code,
    result_size: call.resultSize,
    record_index: call.recordIndex,
  };
}

function renderCall(call: WatchedCall, { paint, columns }: Terminal): string {
  const time = new Date(call.timeMs).toTimeString().slice(0, 8);
  const end = call.success ? `${formatBytes(call.resultSize)} in ${call.durationMs} ms` : visible(call.code);
  const paintEnd = call.success ? paint.green : call.decision === "denied" ? paint.red : paint.yellow;
  const subject = visible(call.subject);
  const isNarrow = columns !== undefined && columns < WIDE;
  const indent = isNarrow && columns < VERY_NARROW ? SMALL_INDENT : INDENT;
  const whole = visible(describeDecision(call));
  const said = isNarrow ? cutText(whole, Math.max(MIN_SUBJECT, columns - indent - 2 - end.length)) : whole;
  const decision = call.decision === "denied" ? paint.red(said) : said;
  const tool = visible(call.tool).padEnd(isNarrow ? 0 : TOOL_WIDTH);
  const head = `${paint.dim(time)}  ${visible(call.sessionId.slice(-6))}  ${paint.bold(tool)}`;
  if (isNarrow) {
    const room = Math.max(MIN_SUBJECT, columns - INDENT - tool.length - 2);
    const about = subject === "" ? "" : `  ${cutText(subject, room)}`;
    return `${head}${about}\n${" ".repeat(indent)}${decision}  ${paintEnd(end)}`;
  }
  const fixed = `${decision}${" ".repeat(Math.max(0, DECISION_WIDTH - said.length))}  ${paintEnd(end)}`;
  if (subject === "") return `${head}  ${fixed}`;
  const gap = " ".repeat(Math.max(0, END_WIDTH - end.length));
  const used =
    INDENT + tool.length + 2 + Math.max(said.length, DECISION_WIDTH) + 2 + Math.max(end.length, END_WIDTH) + 2;
  const about = columns === undefined ? subject : cutText(subject, Math.max(MIN_SUBJECT, columns - used));
  return `${head}  ${fixed}${gap}  ${about}`;
}

/** Width of the time and the session. */
const INDENT = 18;
const SMALL_INDENT = 2;
const VERY_NARROW = 64;
const TOOL_WIDTH = 18;
const DECISION_WIDTH = 30;
const END_WIDTH = 16;
const MIN_SUBJECT = 12;
/** On a narrower terminal a call takes two lines. */
const WIDE = 120;

/** Describes the outcome of the call in words. */
export function describeDecision({ decision, code, rules, asks, approver, tool }: WatchedCall): string {
  // The kernel's own stages have ids like rules, but mean nothing to readers.
  const named = rules.filter((rule) => !rule.startsWith("kernel:"));
  const by = [named.join(", "), approver].filter((part) => part !== "").join(", ");
  if (code === "APPROVAL_PENDING") return `waits for a person (${rules.join(", ") || "approval"})`;
  if (asks && decision === "allowed" && approver === "" && code === "CANCELLED")
    return `ended unanswered (${rules.join(", ")})`;
  // The input or the path is invalid, so no rule was evaluated.
  if (decision === "undecided") return tool === "?" ? "ended" : "rejected";
  return by === "" ? decision : `${decision} by ${by}`;
}

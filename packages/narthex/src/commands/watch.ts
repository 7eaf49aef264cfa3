import type { JsonObject } from "@narthex/contracts";
import { createCallWatcher, type WatchedCall } from "@narthex/server/watched-calls";
import { followRecords } from "../connection/follow-records.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Paint } from "../terminal/paint.ts";
import { formatBytes } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { decodeRecord } from "./record-view.ts";

/** Calls that began before now and end after it are told in full if they began within so many records. */
const LOOK_BACK = 500;
const TOOL_WIDTH = 22;
const DECISION_WIDTH = 34;

export const watchCommand: Command = {
  details: "Runs until it is interrupted, or until nothing reads its output; waits for a kernel where none runs.",
  endsWithReader: true,
  options: [{ flags: "--session <id>", description: "only this session's calls" }],
  examples: ["narthex watch", "narthex watch --json | jq .code"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const observe = createCallWatcher();
    let now = 0;
    const query = {
      fromIndex: undefined,
      chain: options.text("session"),
      lookBack: LOOK_BACK,
      onNow: (nextIndex: number) => {
        now = nextIndex;
      },
    };
    if (!terminal.json) terminal.note(terminal.errorPaint.dim("watching calls; Ctrl-C ends"));
    for await (const stored of followRecords(invocation, query)) {
      const call = observe(decodeRecord(stored));
      if (call === undefined || call.recordIndex < now) continue;
      if (terminal.json) terminal.printJsonLine(callToJson(call));
      else terminal.print(renderCall(call, terminal.paint));
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

function renderCall(call: WatchedCall, paint: Paint): string {
  const time = new Date(call.timeMs).toTimeString().slice(0, 8);
  const by = [call.rules.join(", "), call.approver].filter((part) => part !== "").join(", ");
  const decision = visible(by === "" ? call.decision : `${call.decision} by ${by}`).padEnd(DECISION_WIDTH);
  const end = call.success ? formatBytes(call.resultSize) : visible(call.code);
  return [
    paint.dim(time),
    visible(call.sessionId.slice(-6)),
    paint.bold(visible(call.tool).padEnd(TOOL_WIDTH)),
    call.decision === "denied" ? paint.red(decision) : decision,
    `${call.durationMs} ms`.padStart(9),
    call.success ? paint.green(end) : call.decision === "denied" ? paint.red(end) : paint.yellow(end),
  ].join("  ");
}

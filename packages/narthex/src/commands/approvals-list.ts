import { type ApprovalInfo, ApprovalInfoSchema, StandingApprovalSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { addHomeToAdvice } from "../terminal/add-home-to-advice.ts";
import { formatDuration } from "../terminal/units.ts";
import { renderStanding, summarize } from "./approvals-view.ts";
import type { Command } from "./command.ts";

const COLUMNS: readonly Column<ApprovalInfo>[] = [
  { title: "APPROVAL", value: (info) => info.approvalId },
  { title: "EXPIRES IN", value: (info) => formatDuration(Math.max(0, Number(info.expiresAtMs) - Date.now())) },
  { title: "AGENT", narrow: "drop", value: (info) => info.agent },
  { title: "TOOL", value: (info) => info.tool },
  { title: "CALL", narrow: "wrap", value: (info) => summarize(info.input) },
];

export const approvalsListCommand: Command = {
  details: "A request is open until it is decided, its caller disconnects, or it expires.",
  options: [{ flags: "--standing", description: "also what was allowed for a session or by a rule" }],
  examples: ["narthex approvals", "narthex approvals list --standing", "narthex approvals list --json"],

  async run(invocation) {
    const { terminal, options } = invocation;
    const isStanding = options.flag("standing");
    const { approvals, standing } = await withConnection(invocation, "approvals list", (kernel) =>
      kernel.listApprovals(),
    );
    if (terminal.json) {
      terminal.printJson({
        approvals: approvals.map((info) => messageToJson(ApprovalInfoSchema, info)),
        ...(isStanding && { standing: standing.map((given) => messageToJson(StandingApprovalSchema, given)) }),
      });
      return EXIT_OK;
    }
    if (approvals.length === 0) terminal.note("no call waits for an approval");
    else {
      terminal.print(...renderTable(COLUMNS, approvals, terminal.columns));
      terminal.note(
        addHomeToAdvice(
          "see a whole call with `narthex approvals show ID`, then `approvals approve ID` or `deny ID`",
          terminal,
        ),
      );
    }
    if (isStanding) terminal.print(...standing.flatMap((given) => renderStanding(given, terminal.paint)));
    return EXIT_OK;
  },
};

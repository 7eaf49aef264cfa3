import { withConnection } from "../connection/open-connection.ts";
import { loginName } from "../terminal/login-name.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const journalSettleCommand: Command = {
  details: "Your answer is written into the ledger under your name and cannot be taken back.",
  arguments: [
    { name: "<session>", description: "the session's id" },
    { name: "<request>", description: "the request's id" },
  ],
  options: [
    { flags: "--happened", description: "the effect happened" },
    { flags: "--did-not-happen", description: "the effect did not happen" },
    { flags: "--by <name>", description: "who says so (default: your user name)" },
  ],
  examples: ["narthex journal settle ses_abcdefghij234567abcd req-1 --happened --by ada"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [sessionId = "", requestId = ""] = invocation.arguments;
    const happened = options.flag("happened");
    if (happened === options.flag("did-not-happen"))
      throw usageError("say --happened or --did-not-happen, one of the two");
    const settlement = {
      sessionId,
      requestId,
      answer: happened ? "happened" : "did_not_happen",
      by: options.text("by") ?? loginName(),
    } as const;
    const { recordIndex } = await withConnection(invocation, "journal settle", (kernel) =>
      kernel.settleIntent(settlement),
    );
    if (terminal.json) {
      terminal.printJson({
        session_id: sessionId,
        request_id: requestId,
        answer: settlement.answer,
        by: settlement.by,
        record_index: Number(recordIndex),
      });
    } else {
      terminal.print(visible(`settled ${sessionId}/${requestId}: ${settlement.answer}, record ${recordIndex}`));
    }
    return EXIT_OK;
  },
};

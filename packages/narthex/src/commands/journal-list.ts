import { type IntentInfo, IntentInfoSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";

const COLUMNS: readonly Column<IntentInfo>[] = [
  { title: "SESSION", value: (intent) => intent.sessionId },
  { title: "REQUEST", value: (intent) => intent.requestId },
  { title: "TOOL", value: (intent) => intent.tool },
  { title: "STATE", value: (intent) => intent.state },
  { title: "STARTED", value: (intent) => formatTime(intent.startedAtMs) },
  { title: "RECORD", align: "right", value: (intent) => String(intent.recordIndex) },
];

export const journalListCommand: Command = {
  details:
    "A call is here from the moment its effects may happen until its outcome is in the ledger. One that stays after a " +
    "crash is `unknown`: look whether its effect happened, then settle it, and the session can go on. Commands without " +
    "network whose programs are proven to have ended with the kernel do not stay: the ledger says that they were killed.",
  examples: ["narthex journal", "narthex journal settle ses_abcdefghij234567abcd req-1 --did-not-happen --by ada"],

  async run(invocation) {
    const { terminal } = invocation;
    const intents = await withConnection(invocation, "journal", (kernel) => kernel.listIntents());
    if (terminal.json) {
      terminal.printJson({ intents: intents.map((intent) => messageToJson(IntentInfoSchema, intent)) });
    } else if (intents.length === 0) {
      terminal.note("nothing to settle: the outcome of every call is known");
    } else {
      terminal.print(...renderTable(COLUMNS, intents, terminal.columns));
    }
    return EXIT_OK;
  },
};

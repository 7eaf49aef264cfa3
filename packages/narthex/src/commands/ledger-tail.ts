import { followRecords } from "../connection/follow-records.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatTime } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import { wrapWords } from "../terminal/wrap-words.ts";
import type { Command } from "./command.ts";
import { summariseRecord } from "./record-summary.ts";
import { decodeRecord, recordToJson } from "./record-view.ts";

export const ledgerTailCommand: Command = {
  details: "Runs until it is interrupted, or until nothing reads its output; waits for a kernel where none runs.",
  endsOnClosedOutput: true,
  options: [
    { flags: "--session <id>", description: "only this session's records (or `system`)" },
    { flags: "--from <index>", description: "start at this record (default: from now on)" },
  ],
  examples: ["narthex ledger tail --from 0"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const query = { fromIndex: options.count("from"), chain: options.text("session") };
    for await (const stored of followRecords(invocation, query)) {
      const view = decodeRecord(stored);
      if (terminal.json) {
        terminal.printJsonLine(recordToJson(view));
        continue;
      }
      const { wallTimeMs, chain, requestId } = view.record;
      const place = requestId === "" ? chain : `${chain}/${requestId}`;
      const line = visible(`${view.index}  ${formatTime(wallTimeMs)}  ${place}  ${summariseRecord(view)}`);
      terminal.print(...wrapWords(line, { width: terminal.columns ?? Number.POSITIVE_INFINITY, longWords: "keep" }));
    }
    return EXIT_OK;
  },
};

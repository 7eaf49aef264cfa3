import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderTable } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { RECORD_COLUMNS } from "./record-table.ts";
import { decodeRecord, recordToJson } from "./record-view.ts";

const DEFAULT_LIMIT = 50;

export const ledgerListCommand: Command = {
  details: "Without --from, the newest records; the oldest of them comes first.",
  options: [
    { flags: "--session <id>", description: "only this session's records (or `system`)" },
    { flags: "--from <index>", description: "start at this record" },
    { flags: "--limit <n>", description: `at most this many (default: ${DEFAULT_LIMIT})` },
  ],
  examples: ["narthex ledger list --limit 20", "narthex ledger list --from 0 --json"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const query = {
      fromIndex: options.count("from"),
      limit: options.count("limit") ?? DEFAULT_LIMIT,
      chain: options.text("session"),
    };
    const stored = await withConnection(invocation, "ledger list", (kernel) => kernel.listRecords(query));
    const records = stored.map(decodeRecord);
    if (terminal.json) terminal.printJson({ records: records.map(recordToJson) });
    else terminal.print(...renderTable(RECORD_COLUMNS, records));
    return EXIT_OK;
  },
};

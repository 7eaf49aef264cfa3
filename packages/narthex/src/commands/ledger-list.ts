import type { LedgerRecord } from "@narthex/contracts";
import type { KernelConnection, RecordsQuery } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderTable } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { RECORD_COLUMNS } from "./record-table.ts";
import { decodeRecord, recordToJson } from "./record-view.ts";

const DEFAULT_LIMIT = 50;
/** As many as the kernel gives at once. */
const PAGE = 1000;

export const ledgerListCommand: Command = {
  details: "Without --from, the newest records; the oldest of them comes first.",
  options: [
    { flags: "--session <id>", description: "only this session's records (or `system`)" },
    { flags: "--from <index>", description: "start at this record" },
    {
      flags: "--limit <n>",
      description: `at most this many (default: ${DEFAULT_LIMIT}; above ${PAGE} with --from only)`,
    },
  ],
  examples: ["narthex ledger list --limit 20", "narthex ledger list --from 0 --limit 100000 --json"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const query = {
      fromIndex: options.count("from"),
      limit: options.count("limit") ?? DEFAULT_LIMIT,
      chain: options.text("session"),
    };
    if (query.limit > PAGE && query.fromIndex === undefined) {
      throw usageError(`--limit above ${PAGE} needs --from INDEX`);
    }
    const stored = await withConnection(invocation, "ledger list", (kernel) => readPages(kernel, query));
    const records = stored.map(decodeRecord);
    if (terminal.json) terminal.printJson({ records: records.map(recordToJson) });
    else terminal.print(...renderTable(RECORD_COLUMNS, records, terminal.columns));
    return EXIT_OK;
  },
};

async function readPages(kernel: KernelConnection, query: RecordsQuery): Promise<LedgerRecord[]> {
  if (query.fromIndex === undefined) return query.limit === 0 ? [] : kernel.listRecords(query);
  const records: LedgerRecord[] = [];
  for (let fromIndex = query.fromIndex; records.length < query.limit; ) {
    const page = await kernel.listRecords({ ...query, fromIndex, limit: Math.min(PAGE, query.limit - records.length) });
    const last = page.at(-1);
    if (last === undefined) break;
    records.push(...page);
    fromIndex = Number(last.index) + 1;
  }
  return records;
}

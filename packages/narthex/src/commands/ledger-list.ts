import type { LedgerRecord } from "@narthex/contracts";
import type { KernelConnection, RecordsQuery } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderTable } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { recordColumns } from "./record-table.ts";
import { createRecordMatcher, FILTER_OPTIONS, readRecordFilter, type RecordFilter } from "./record-filter.ts";
import { decodeRecord, recordToJson, type RecordView } from "./record-view.ts";

const DEFAULT_LIMIT = 50;
/** Maximum number of records that the kernel returns at once. */
const PAGE = 1000;

export const ledgerListCommand: Command = {
  details:
    "Without --from, the newest records; the oldest of them comes first. --tool, --agent, --denied and --since narrow the list.",
  options: [
    { flags: "--session <id>", description: "only this session's records (or `system`)" },
    ...FILTER_OPTIONS,
    { flags: "--from <index>", description: "start at this record" },
    {
      flags: "--limit <n>",
      description: `at most this many (default: ${DEFAULT_LIMIT}; above ${PAGE} with --from only)`,
    },
  ],
  examples: [
    "narthex ledger list --limit 20",
    "narthex ledger list --tool shell_exec --denied --since 1d",
    "narthex ledger list --from 0 --limit 100000 --json",
  ],

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
    const filter = readRecordFilter(options, Date.now());
    const records = await withConnection(invocation, "ledger list", async (kernel) =>
      filter === undefined ? (await readPages(kernel, query)).map(decodeRecord) : readFiltered(kernel, query, filter),
    );
    if (terminal.json) terminal.printJson({ records: records.map(recordToJson) });
    else terminal.print(...renderTable(recordColumns(records, terminal.columns), records, terminal.columns));
    return EXIT_OK;
  },
};

/** Maximum number of sessions whose agents a filter knows. */
const MAX_SESSIONS = 100_000;

/** Reads the ledger forward and keeps matching records: the first ones with --from, the last ones without. */
async function readFiltered(
  kernel: KernelConnection,
  query: RecordsQuery,
  filter: RecordFilter,
): Promise<RecordView[]> {
  const sessions = filter.agent === undefined ? [] : await kernel.listSessions({ all: true, limit: MAX_SESSIONS });
  const matches = createRecordMatcher(filter, sessions);
  const kept: RecordView[] = [];
  for (let fromIndex = query.fromIndex ?? 0; ; ) {
    const page = await kernel.listRecords({ ...query, fromIndex, limit: PAGE });
    const last = page.at(-1);
    if (last === undefined) return kept;
    kept.push(...page.map(decodeRecord).filter(matches));
    if (query.fromIndex === undefined) kept.splice(0, Math.max(0, kept.length - query.limit));
    else if (kept.length >= query.limit) return kept.slice(0, query.limit);
    fromIndex = Number(last.index) + 1;
  }
}

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

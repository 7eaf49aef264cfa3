import { toHex } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts, renderTable } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { parseRecordReference } from "./record-reference.ts";
import { decodeRecord, entryFacts, entryName, type RecordView, recordToJson } from "./record-view.ts";

export const ledgerShowCommand: Command = {
  arguments: [{ name: "<record>", description: "a record's index, or SESSION/REQUEST for the outcome of a call" }],
  examples: ["narthex ledger show 12", "narthex ledger show ses_abcdefghij234567abcd/req-1"],

  async run(invocation) {
    const { terminal } = invocation;
    const which = parseRecordReference(invocation.arguments[0] ?? "");
    const stored = await withConnection(invocation, "ledger show", (kernel) => kernel.getRecord(which));
    const view = decodeRecord(stored);
    if (terminal.json) terminal.printJson(recordToJson(view));
    else printRecord(view, terminal);
    return EXIT_OK;
  },
};

function printRecord({ index, hash, record, content }: RecordView, terminal: Terminal): void {
  terminal.print(
    ...renderFacts([
      ["record", String(index)],
      ["hash", toHex(hash)],
      ["previous", record.previousHash.length === 0 ? "none: first of its chain" : toHex(record.previousHash)],
      ["chain", `${record.chain}, number ${record.sequence}`],
      ["time", formatTime(record.wallTimeMs)],
      ["logical time", formatTime(record.logicalTimeMs)],
      ["request", record.requestId || "none"],
    ]),
  );
  for (const entry of record.entries) {
    terminal.print("", terminal.paint.bold(entryName(entry)));
    terminal.print(...renderFacts(entryFacts(entry)).map((line) => `  ${line}`));
  }
  const items = recordToJson({ index, hash, record, content })["content"];
  if (!Array.isArray(items) || items.length === 0) return;
  const field = (name: string) => (item: unknown) => {
    const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, name) : "";
    return Array.isArray(value) ? value.join(",") : String(value);
  };
  const columns = ["role", "size", "place", "digest", "labels"].map((name) => ({
    title: name.toUpperCase(),
    value: field(name),
  }));
  terminal.print(
    "",
    terminal.paint.bold("Content"),
    ...renderTable<unknown>(columns, items).map((line) => `  ${line}`),
  );
}

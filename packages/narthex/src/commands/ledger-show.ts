import { ContentPlace, ContentRole, type JsonValue, toHex } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { boundLines } from "../terminal/bound-lines.ts";
import { renderFacts, renderTable } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatTime } from "../terminal/units.ts";
import { visibleJson } from "../terminal/visible.ts";
import { resultToJson } from "./call-result.ts";
import type { Command } from "./command.ts";
import { parseRecordReference } from "./record-reference.ts";
import { decodeRecord, entryFacts, entryName, type RecordView, recordToJson } from "./record-view.ts";

export const ledgerShowCommand: Command = {
  arguments: [{ name: "<record>", description: "a record's index, or SESSION/REQUEST for the outcome of a call" }],
  examples: ["narthex ledger show 12", "narthex ledger show ses_abcdefghij234567abcd/req-1"],

  async run(invocation) {
    const { terminal } = invocation;
    const which = parseRecordReference(invocation.arguments[0] ?? "");
    const { view, input } = await withConnection(invocation, "ledger show", async (kernel) => {
      const found = decodeRecord(await kernel.getRecord(which));
      return { view: found, input: await readInput(found, kernel) };
    });
    if (terminal.json)
      terminal.printJson({ ...recordToJson(view), ...(input !== undefined && { input: jsonOf(input) }) });
    else printRecord(view, input, terminal);
    return EXIT_OK;
  },
};

/** Larger inputs are shown only as their hash. */
const MAX_INPUT_BYTES = 1024 * 1024;
/** Maximum number of characters printed of an input; --json prints all of it. */
const MAX_SHOWN_CHARACTERS = 16 * 1024;

/** Reads the call's input, if this record holds it and it was not erased. */
async function readInput({ content }: RecordView, kernel: KernelConnection): Promise<Uint8Array | undefined> {
  const item = content?.items.find(({ role }) => role === ContentRole.INPUT);
  const isThere = item?.place === ContentPlace.ROW || item?.place === ContentPlace.FILE;
  if (item === undefined || !isThere || item.size > BigInt(MAX_INPUT_BYTES)) return undefined;
  try {
    const { chunks } = await kernel.getContent({ token: undefined, hash: item.digest, offset: 0, limit: 0 });
    return Buffer.concat(await Array.fromAsync(chunks));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "CONTENT_NOT_FOUND") return undefined;
    throw error;
  }
}

function jsonOf(input: Uint8Array): JsonValue {
  return resultToJson("json", input);
}

function printInput(input: Uint8Array, terminal: Terminal): void {
  const text = visibleJson(JSON.stringify(jsonOf(input), undefined, 2));
  const bound = { maxCharacters: MAX_SHOWN_CHARACTERS, how: "--json shows all of it" };
  terminal.print("", terminal.paint.bold("Input"), ...boundLines(text.split("\n"), bound).map((line) => `  ${line}`));
}

function printRecord(
  { index, hash, record, content, subject }: RecordView,
  input: Uint8Array | undefined,
  terminal: Terminal,
): void {
  terminal.print(
    ...renderFacts(
      [
        ["record", String(index)],
        ["hash", toHex(hash)],
        ["previous", record.previousHash.length === 0 ? "none: first of its chain" : toHex(record.previousHash)],
        ["chain", `${record.chain}, number ${record.sequence}`],
        ["time", formatTime(record.wallTimeMs)],
        ["logical time", formatTime(record.logicalTimeMs)],
        ["request", record.requestId || "none"],
      ],
      terminal.columns,
    ),
  );
  if (input !== undefined) printInput(input, terminal);
  for (const entry of record.entries) {
    terminal.print("", terminal.paint.bold(entryName(entry)));
    terminal.print(...renderFacts(entryFacts(entry), inner(terminal)).map((line) => `  ${line}`));
  }
  const items = recordToJson({ index, hash, record, content, subject })["content"];
  if (!Array.isArray(items) || items.length === 0) return;
  const field = (name: string) => (item: unknown) => {
    const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, name) : "";
    return Array.isArray(value) ? value.join(",") : String(value);
  };
  const columns = ["role", "size", "place", "digest", "labels"].map((name) => ({
    title: name.toUpperCase(),
    ...(name === "digest" && { narrow: "cut" as const }),
    value: field(name),
  }));
  terminal.print(
    "",
    terminal.paint.bold("Content"),
    ...renderTable<unknown>(columns, items, inner(terminal)).map((line) => `  ${line}`),
  );
}

/** Width available inside the indentation of an entry. */
function inner({ columns }: Terminal): number | undefined {
  return columns === undefined ? undefined : columns - 2;
}

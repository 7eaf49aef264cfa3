import { type ContentHolder, StatContentResponseSchema, toHex } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { type Column, renderFacts, renderTable } from "../terminal/table.ts";
import { formatCount } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { parseContentHash } from "./content-hash.ts";

const HOLDER_COLUMNS: readonly Column<ContentHolder>[] = [
  { title: "SESSION", value: (holder) => holder.sessionId },
  { title: "RECORD", align: "right", value: (holder) => String(holder.recordIndex) },
  { title: "ROLE", value: (holder) => holder.role },
  { title: "LABELS", value: (holder) => holder.labels.join(",") },
];

export const casStatCommand: Command = {
  arguments: [{ name: "<hash>", description: "the content's BLAKE3 hash, in hex" }],
  examples: ["narthex cas stat af1349b9...c9b3e8"],

  async run(invocation) {
    const { terminal } = invocation;
    const hash = parseContentHash(invocation.arguments[0] ?? "", "cas stat");
    const status = await withConnection(invocation, "cas stat", (kernel) => kernel.statContent(hash));
    if (!status.found) throw new CommandError("CONTENT_NOT_FOUND", `no content has the hash \`${toHex(hash)}\``);
    if (terminal.json) {
      terminal.printJson({ hash: toHex(hash), ...messageToJson(StatContentResponseSchema, status) });
      return EXIT_OK;
    }
    terminal.print(
      ...renderFacts([
        ["hash", toHex(hash)],
        ["size", `${formatCount(status.size)} bytes`],
        ["kept in", status.place === "file" ? "a content file" : "a record's row"],
      ]),
      "",
      ...renderTable(HOLDER_COLUMNS, status.holders),
    );
    return EXIT_OK;
  },
};

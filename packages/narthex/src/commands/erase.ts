import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { formatBytes, formatCount, formatCounted } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { parseContentHash } from "./content-hash.ts";

export const eraseCommand: Command = {
  details:
    "By hash: content goes wherever it is named, with all that was made from it if it is a call's input. By session: all " +
    "content of a session that has ended; what others put or received as well stays with them. It cannot be taken back. " +
    "The ledger keeps a tombstone for each item, with the reason and your name, and verifies as before.",
  arguments: [{ name: "[hash...]", description: "BLAKE3 hashes of content, in hex" }],
  options: [
    { flags: "--session <id>", description: "all content of this session; may be given again", repeatable: true },
    { flags: "--reason <text>", description: "why; it is written into the ledger" },
    { flags: "--by <name>", description: "who asks for it (default: your user name)" },
    { flags: "--dry-run", description: "only say what would be done" },
  ],
  examples: [
    'narthex erase af1349b9...c9b3e8 --reason "request of the customer"',
    'narthex erase --session ses_abcdefghij234567abcd --reason "wrong workspace" --dry-run',
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const hashes = invocation.arguments.map((text) => parseContentHash(text, "erase"));
    const sessionIds = options.texts("session");
    if (hashes.length + sessionIds.length === 0) throw usageError("erase needs a hash, or --session ID");
    const reason = options.text("reason");
    if (reason === undefined) throw usageError("erase needs --reason TEXT: it is written into the ledger");
    const dryRun = options.flag("dry-run");
    const erasure = { hashes, sessionIds, reason, by: options.text("by") ?? loginName(), dryRun };
    const report = await withConnection(invocation, "erase", (kernel) => kernel.erase(erasure));
    const { items, records, bytes, files, recordIndexes, heldByOthers } = report;
    if (terminal.json) {
      terminal.printJson({
        dry_run: dryRun,
        items: Number(items),
        records: Number(records),
        bytes: Number(bytes),
        files: Number(files),
        record_indexes: recordIndexes.map(Number),
        held_by_others: Number(heldByOthers),
      });
      return EXIT_OK;
    }
    const done = dryRun ? "would erase" : "erased";
    terminal.print(
      `${done} ${formatCounted(items, "item")} of ${formatCounted(records, "record")}, ${formatBytes(bytes)}`,
    );
    if (recordIndexes.length > 0) terminal.print(`the ledger says so in record ${recordIndexes.join(", ")}`);
    if (heldByOthers > 0n) {
      terminal.note(`${formatCount(heldByOthers)} contents are held by other sessions too and stay with them`);
    }
    return EXIT_OK;
  },
};

import { resolve } from "node:path";
import { toHex } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatBytes, formatCount, formatCounted } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const backupCommand: Command = {
  details:
    "Records, content, policy, added tools, configuration and the public log, as they are at one moment; calls go on " +
    "meanwhile. The copy is verified before it has its name. Private keys stay behind unless you ask for them: two homes " +
    "that sign with one key would be two truths. Secrets, tokens and caches are never in it.",
  arguments: [{ name: "<directory>", description: "where to; it must not be there yet" }],
  options: [{ flags: "--with-keys", description: "also the private keys, for a copy that replaces this home" }],
  examples: ["narthex backup /backups/narthex-monday"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [named] = invocation.arguments;
    if (named === undefined) throw usageError("backup needs a directory that is not there yet");
    const copying = { directory: resolve(named), withKeys: options.flag("with-keys") };
    const copy = await withConnection(invocation, "backup", (kernel) => kernel.backUp(copying));
    const { directory, records, headHash, files, bytes } = copy;
    if (terminal.json) {
      terminal.printJson({
        directory,
        records: Number(records),
        head_hash: toHex(headHash),
        files: Number(files),
        bytes: Number(bytes),
        with_keys: copying.withKeys,
      });
      return EXIT_OK;
    }
    terminal.print(visible(`copied and verified ${formatCounted(records, "record")} into ${directory}`));
    terminal.print(`content files: ${formatCount(files)}, ${formatBytes(bytes)}`);
    return EXIT_OK;
  },
};

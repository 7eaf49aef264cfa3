import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatBytes, formatCounted } from "../terminal/units.ts";
import type { Command } from "./command.ts";

export const gcCommand: Command = {
  details:
    "A kernel that runs does this by itself, as `retention` in narthex.yaml says: content of sessions that ended goes after " +
    "14 days, or before if all of it is more than 5 GB. Content of open sessions and of artifacts never goes.",
  options: [
    { flags: "--older-than <duration>", description: "content of sessions that ended so long ago, such as 3d" },
    { flags: "--max-bytes <n>", description: "what sessions that have ended may keep in all" },
    { flags: "--dry-run", description: "only say what would be done" },
  ],
  examples: ["narthex gc --dry-run", "narthex gc --older-than 2d"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const maxAgeMs = options.durationMs("older-than");
    const maxBytes = options.count("max-bytes");
    const dryRun = options.flag("dry-run");
    const report = await withConnection(invocation, "gc", (kernel) =>
      kernel.collect({
        dryRun,
        ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      }),
    );
    const { sessions, items, bytes, files, keptBytes } = report;
    if (terminal.json) {
      terminal.printJson({
        dry_run: dryRun,
        sessions: Number(sessions),
        items: Number(items),
        bytes: Number(bytes),
        files: Number(files),
        kept_bytes: Number(keptBytes),
      });
      return EXIT_OK;
    }
    const done = dryRun ? "would erase" : "erased";
    terminal.print(
      `${done} ${formatCounted(items, "item")} of ${formatCounted(sessions, "session")}, ${formatBytes(bytes)}`,
    );
    return EXIT_OK;
  },
};

import { restoreHome } from "@narthex/host";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatCounted, formatTime } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const restoreCommand: Command = {
  details:
    "The home (--data DIR) must be empty or missing. The backup is verified before the home gets its name. The original kernel " +
    "may have continued since the backup, so at the first start every session is closed, unused approvals are withdrawn, and " +
    "calls that were running wait in the journal.",
  arguments: [{ name: "<backup>", description: "the directory that `narthex backup` wrote" }],
  examples: ["narthex restore /backups/narthex-monday --data ~/.narthex-restored"],

  async run({ arguments: [named], home, terminal }) {
    if (named === undefined) throw usageError("restore needs the directory of a backup");
    const { verifyCopy } = await import("../verify-copy.ts");
    const manifest = await restoreHome({ backup: named, home, verify: (paths) => verifyCopy(paths, true) });
    const { records, headHash, takenAtMs, hasKeys } = manifest;
    if (terminal.json) {
      terminal.printJson({ home, records, head_hash: headHash, taken_at_ms: takenAtMs, has_keys: hasKeys });
      return EXIT_OK;
    }
    terminal.print(
      visible(`restored and verified ${formatCounted(records, "record")} of ${formatTime(takenAtMs)} to ${home}`),
    );
    if (!hasKeys)
      terminal.note("the backup holds no private keys: put those of the old home into keys/ if you have them");
    return EXIT_OK;
  },
};

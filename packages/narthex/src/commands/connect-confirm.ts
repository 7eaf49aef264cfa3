import { usageError } from "../terminal/command-error.ts";
import type { Invocation } from "./command.ts";

/** Asks the user at the terminal whether to write the changes. */
export async function confirm({ terminal, signal }: Invocation): Promise<boolean> {
  if (terminal.json || !terminal.errorIsTerminal || !process.stdin.isTTY) {
    throw usageError(
      "nothing was written: there is no terminal to confirm on",
      "say --yes to write it, or --dry-run to look only",
    );
  }
  const { openKeyReader } = await import("../terminal/key-reader.ts");
  terminal.writeError("write this? [y/n] ");
  const keys = await openKeyReader(process.stdin);
  try {
    const key = await keys.next(signal);
    terminal.writeError(`${key}\n`);
    return key === "y" || key === "Y";
  } finally {
    keys.close();
  }
}

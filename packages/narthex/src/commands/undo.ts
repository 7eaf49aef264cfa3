import type { UndoneCall } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { loginName } from "../terminal/login-name.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const undoCommand: Command = {
  details:
    "Of a session, every call is undone, from the last to the first. If anything else has changed one of the files since, " +
    "nothing is undone. An undo is written into the ledger under your name and cannot be undone itself.",
  arguments: [{ name: "<what>", description: "SESSION, or SESSION/REQUEST for one call" }],
  options: [
    { flags: "--dry-run", description: "only say what would be done" },
    { flags: "--by <name>", description: "who asks for it (default: your user name)" },
  ],
  examples: ["narthex undo ses_abcdefghij234567abcd/req-1 --dry-run", "narthex undo ses_abcdefghij234567abcd"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const dryRun = options.flag("dry-run");
    const undoing = {
      ...parseSubject(invocation.arguments[0] ?? ""),
      by: options.text("by") ?? loginName(),
      dryRun,
    };
    const calls = await withConnection(invocation, "undo", (kernel) => kernel.undo(undoing));
    if (terminal.json) {
      const { sessionId, by } = undoing;
      terminal.printJson({ session_id: sessionId, by, dry_run: dryRun, calls: calls.map(callToJson) });
    } else printCalls(calls, dryRun, terminal);
    return EXIT_OK;
  },
};

function parseSubject(text: string): { readonly sessionId: string; readonly requestId: string | undefined } {
  // Session ids contain no slash; request ids may contain any number.
  const slash = text.indexOf("/");
  if (slash === -1 && text !== "") return { sessionId: text, requestId: undefined };
  // A reference to one call must never be read as a whole session.
  if (slash <= 0 || slash === text.length - 1) throw usageError("name a SESSION, or SESSION/REQUEST for one call");
  return { sessionId: text.slice(0, slash), requestId: text.slice(slash + 1) };
}

function callToJson({ requestId, recordIndex, undoneIndex, changes }: UndoneCall) {
  return {
    request_id: requestId,
    record_index: Number(recordIndex),
    undone_index: undoneIndex === 0n ? null : Number(undoneIndex),
    changes: changes.map(({ path, action }) => ({ path, action })),
  };
}

function printCalls(calls: readonly UndoneCall[], dryRun: boolean, terminal: Terminal): void {
  for (const { requestId, undoneIndex, changes } of calls) {
    terminal.print(visible(dryRun ? `would undo ${requestId}` : `undid ${requestId}, record ${undoneIndex}`));
    for (const { path, action } of changes) terminal.print(visible(`  ${action.padEnd(10).replace("_", " ")} ${path}`));
  }
}

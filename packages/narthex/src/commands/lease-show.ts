import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { readSessionReference, SESSION_OPTION } from "./session-reference.ts";
import { leaseFacts, leaseToJson } from "./lease-view.ts";

export const leaseShowCommand: Command = {
  arguments: [{ name: "[lease]", description: "the lease's id (default: the session's own lease)" }],
  options: [SESSION_OPTION],
  examples: ["narthex lease show --session ses_abcdefghij234567abcd", "narthex lease show lea_abcdefghij234567abcd"],

  async run(invocation) {
    const { terminal, options } = invocation;
    const [leaseId] = invocation.arguments;
    if (leaseId !== undefined && options.text("session") !== undefined) {
      throw usageError("name a lease or a session, not both");
    }
    const holder = leaseId === undefined ? await readSessionReference(invocation) : undefined;
    const lease = await withConnection(invocation, "lease show", async (kernel) =>
      kernel.getLease(leaseId ?? (await kernel.getSession(holder?.sessionId ?? "")).leaseId),
    );
    if (terminal.json) terminal.printJson(leaseToJson(lease));
    else terminal.print(...renderFacts(leaseFacts(lease), terminal.columns));
    return EXIT_OK;
  },
};

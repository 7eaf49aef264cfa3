import { withConnection } from "../connection/open-connection.ts";
import { findToken, deleteToken } from "../connection/session-token.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { readJsonText } from "./json-text.ts";
import { SESSION_OPTION } from "./session-reference.ts";

export const leaseReleaseCommand: Command = {
  details:
    "Closes the session that holds the lease, after all that were split off it. What it did not spend is free again for " +
    "the lease it was split off.",
  arguments: [{ name: "<lease>", description: "the id of a lease that was split off the session's own" }],
  options: [SESSION_OPTION],
  examples: ["narthex lease release lea_abcdefghij234567abcd --session ses_abcdefghij234567abcd"],

  async run(invocation) {
    const { terminal, environment } = invocation;
    const [leaseId] = invocation.arguments;
    if (leaseId === undefined) throw usageError("lease release needs a lease's id");
    const token = await findToken(invocation);
    const { budgetReturned, sessionId } = await withConnection(invocation, "lease release", async (kernel) => {
      const released = await kernel.releaseLease({ token, leaseId });
      return { ...released, sessionId: (await kernel.getLease(leaseId)).sessionId };
    });
    await deleteToken(sessionId, environment);
    if (terminal.json) {
      const returned = readJsonText(budgetReturned);
      terminal.printJson({ lease_id: leaseId, session_id: sessionId, budget_returned: returned });
    } else {
      const back = budgetReturned === "{}" ? "nothing was limited" : `back came ${budgetReturned}`;
      terminal.print(visible(`released ${leaseId}, closed ${sessionId}; ${back}`));
    }
    return EXIT_OK;
  },
};

import { withConnection } from "../connection/open-connection.ts";
import { loginName } from "../terminal/login-name.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const leaseRevokeCommand: Command = {
  details:
    "No call is taken any more under the lease or any that was split off it, and those that run are cancelled. It is " +
    "written into the ledger under your name and cannot be taken back.",
  arguments: [{ name: "<lease>", description: "the lease's id" }],
  options: [
    { flags: "--reason <text>", description: "why" },
    { flags: "--by <name>", description: "who says so (default: your user name)" },
  ],
  examples: [`narthex lease revoke lea_abcdefghij234567abcd --reason "the review is over"`],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [leaseId] = invocation.arguments;
    if (leaseId === undefined) throw usageError("lease revoke needs a lease's id");
    const revocation = {
      leaseId,
      reason: options.text("reason") ?? "",
      by: options.text("by") ?? loginName(),
    };
    const { leaseIds, cancelledCalls } = await withConnection(invocation, "lease revoke", (kernel) =>
      kernel.revokeLease(revocation),
    );
    if (terminal.json) {
      const { reason, by } = revocation;
      terminal.printJson({ lease_ids: leaseIds, cancelled_calls: cancelledCalls, reason, by });
    } else {
      const below = leaseIds.length === 1 ? "" : ` and ${leaseIds.length - 1} below it`;
      terminal.print(visible(`revoked ${leaseId}${below}, cancelled ${cancelledCalls} calls`));
    }
    return EXIT_OK;
  },
};

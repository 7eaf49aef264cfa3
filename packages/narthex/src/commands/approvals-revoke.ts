import { StandingApprovalSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const approvalsRevokeCommand: Command = {
  details: "From then on such calls are asked about again. Calls that run already go on.",
  arguments: [{ name: "<standing>", description: "its id, as `approvals list --standing` shows it" }],
  options: [{ flags: "--by <name>", description: "who says so (default: your user name)" }],
  examples: ["narthex approvals revoke sta_abcdefghij234567abcd"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [standingId = ""] = invocation.arguments;
    const by = options.text("by") ?? loginName();
    const revoked = await withConnection(invocation, "approvals revoke", (kernel) =>
      kernel.revokeApproval({ standingId, by }),
    );
    if (terminal.json) terminal.printJson(messageToJson(StandingApprovalSchema, revoked));
    else terminal.print(visible(`revoked ${revoked.standingId}, by ${by}`));
    return EXIT_OK;
  },
};

import { ApprovalInfoSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { renderApproval, renderTerms } from "./approvals-view.ts";
import type { Command } from "./command.ts";
import { findApproval } from "./approvals-find.ts";

export const approvalsShowCommand: Command = {
  details:
    "Shows the call whole. Characters that are not seen, or look like others, stand as their code points: \\u{202e}.",
  arguments: [{ name: "<approval>", description: "the approval's id" }],
  examples: ["narthex approvals show apr_abcdefghij234567abcd"],

  async run(invocation) {
    const { terminal } = invocation;
    const [approvalId = ""] = invocation.arguments;
    const info = await withConnection(invocation, "approvals show", (kernel) => findApproval(kernel, approvalId));
    if (terminal.json) terminal.printJson(messageToJson(ApprovalInfoSchema, info));
    else terminal.print(...renderApproval(info, terminal.paint), "", ...renderTerms(info, terminal.paint));
    return EXIT_OK;
  },
};

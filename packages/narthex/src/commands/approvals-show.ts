import { ApprovalInfoSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { boundLines } from "../terminal/bound-lines.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { MAX_SHOWN_CHARACTERS, renderApproval, renderTerms } from "./approvals-view.ts";
import type { Command } from "./command.ts";
import { findApproval } from "./approvals-find.ts";

export const approvalsShowCommand: Command = {
  details:
    "Shows the call. Characters that are not seen, or look like others, stand as their code points: \\u{202e}. A call of " +
    "more than 16 KB is cut, and says so.",
  arguments: [{ name: "<approval>", description: "the approval's id" }],
  options: [{ flags: "--whole", description: "all of a call, however long it is" }],
  examples: ["narthex approvals show apr_abcdefghij234567abcd"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [approvalId = ""] = invocation.arguments;
    const info = await withConnection(invocation, "approvals show", (kernel) => findApproval(kernel, approvalId));
    if (terminal.json) terminal.printJson(messageToJson(ApprovalInfoSchema, info));
    else if (options.flag("whole")) {
      terminal.print(...renderApproval(info, terminal.paint), "", ...renderTerms(info, terminal.paint));
    } else {
      const bound = { maxCharacters: MAX_SHOWN_CHARACTERS, how: "see all of it with --whole before you approve it" };
      const terms = boundLines(renderTerms(info, terminal.paint), bound);
      terminal.print(...renderApproval(info, terminal.paint, bound), "", ...terms);
    }
    return EXIT_OK;
  },
};

import type { ResolveApprovalInput } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { printResolution } from "./print-resolution.ts";
import type { Command } from "./command.ts";

export const approvalsDenyCommand: Command = {
  details: "The call is denied once; the same call made again is a new request.",
  arguments: [{ name: "<approval>", description: "the approval's id" }],
  options: [
    { flags: "--reason <text>", description: "told to the agent" },
    { flags: "--by <name>", description: "who says so (default: your user name)" },
  ],
  examples: ["narthex approvals deny apr_abcdefghij234567abcd --reason 'use a branch'"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [approvalId = ""] = invocation.arguments;
    const resolution: ResolveApprovalInput = {
      approvalId,
      answer: "deny",
      words: undefined,
      approver: options.text("by") ?? loginName(),
      reason: options.text("reason"),
    };
    const resolved = await withConnection(invocation, "approvals deny", (kernel) => kernel.resolveApproval(resolution));
    printResolution(resolution, resolved, terminal);
    return EXIT_OK;
  },
};

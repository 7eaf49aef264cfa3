import type { ResolveApprovalInput } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { printResolution } from "./print-resolution.ts";
import type { Command } from "./command.ts";
import type { OptionReader } from "./option-reader.ts";

export const approvalsApproveCommand: Command = {
  details:
    "Without an option the approval is valid once, for exactly this call. For the session it covers similar calls: the same " +
    "program with the same words (the first ones with --words), the same path, or the same input; see `approvals show`. As a " +
    "rule it is written into the policy. `approvals revoke` revokes the longer ones.",
  arguments: [{ name: "<approval>", description: "the approval's id" }],
  options: [
    { flags: "--session", description: "approve similar calls in this session, too" },
    { flags: "--words <n>", description: "with --session, for a command: only its first words must be the same" },
    { flags: "--rule", description: "write the rule that `approvals show` prints into the policy" },
    { flags: "--by <name>", description: "who approves (default: your user name)" },
  ],
  examples: [
    "narthex approvals approve apr_abcdefghij234567abcd",
    "narthex approvals approve apr_abcdefghij234567abcd --session --words 2",
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [approvalId = ""] = invocation.arguments;
    const resolution: ResolveApprovalInput = {
      approvalId,
      answer: termOf(options),
      words: options.count("words"),
      approver: options.text("by") ?? loginName(),
      reason: undefined,
    };
    const resolved = await withConnection(invocation, "approvals approve", (kernel) =>
      kernel.resolveApproval(resolution),
    );
    printResolution(resolution, resolved, terminal);
    return EXIT_OK;
  },
};

function termOf(options: OptionReader): "once" | "session" | "rule" {
  const [isSession, isRule] = [options.flag("session"), options.flag("rule")];
  if (isSession && isRule) throw usageError("--session and --rule cannot be combined");
  const words = options.count("words");
  if (words !== undefined && !isSession) throw usageError("--words requires --session");
  if (words === 0) throw usageError("--words must be a number of at least 1");
  return isSession ? "session" : isRule ? "rule" : "once";
}

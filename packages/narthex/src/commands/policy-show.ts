import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";
import { policyToJson, renderPolicy } from "./policy-view.ts";

export const policyShowCommand: Command = {
  details: "Without a running kernel: the policy that the next start would put in force.",
  examples: ["narthex policy show", "narthex policy show --json"],

  async run(invocation) {
    const { terminal } = invocation;
    const policy = await withConnection(invocation, "policy show", (kernel) => kernel.getPolicy());
    if (terminal.json) terminal.printJson(policyToJson(policy));
    else terminal.print(...renderPolicy(policy, terminal.columns));
    return EXIT_OK;
  },
};

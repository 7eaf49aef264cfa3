import { tryServicesConnection } from "../connection/open-connection.ts";
import { loginName } from "../terminal/login-name.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";
import { policyToJson, renderPolicy } from "./policy-view.ts";

export const policyReloadCommand: Command = {
  details:
    "The kernel that runs on this home reads its policy directory again. Rules that are not valid change nothing: the ones " +
    "before stay in force, and the ledger says so. Waiting approvals are decided again by the new rules.",
  options: [{ flags: "--by <name>", description: "who asks for it (default: your user name)" }],
  examples: ["narthex policy check && narthex policy reload", "narthex policy reload --by ada"],

  async run({ home, options, terminal }) {
    const kernel = await tryServicesConnection(home);
    if (kernel === undefined) {
      if (terminal.json) terminal.printJson({ reloaded: false, changed: false, policy: null });
      else terminal.print("no kernel runs on this home; the next start reads the policy as it is then");
      return EXIT_OK;
    }
    try {
      const { policy, changed } = await kernel.reloadPolicy(options.text("by") ?? loginName());
      if (terminal.json) terminal.printJson({ reloaded: true, changed, policy: policyToJson(policy) });
      else
        terminal.print(
          changed ? "the new policy is in force" : "the same policy stays in force",
          ...renderPolicy(policy, terminal.columns),
        );
      return EXIT_OK;
    } finally {
      await kernel.close();
    }
  },
};

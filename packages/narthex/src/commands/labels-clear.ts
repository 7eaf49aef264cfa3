import { resolve } from "node:path";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { explainRefusedDirectory } from "./labels-refusal.ts";

export const labelsClearCommand: Command = {
  details:
    "Say so only after you have looked at what is in it: agents that work there are no longer told that it is secret or " +
    "untrusted. It is written into the ledger under your name. Sessions and content keep their labels.",
  arguments: [{ name: "<workspace>", description: "the directory" }],
  options: [{ flags: "--by <name>", description: "who says so (default: your user name)" }],
  examples: ["narthex labels clear ~/project --by ada"],

  async run(invocation) {
    const { terminal, options } = invocation;
    const [named] = invocation.arguments;
    if (named === undefined) throw usageError("labels clear needs a directory");
    const clearing = { workspace: resolve(named), by: options.text("by") ?? loginName() };
    const labels = await withConnection(invocation, "labels clear", (kernel) =>
      kernel.clearWorkspaceLabels(clearing),
    ).catch(explainRefusedDirectory);
    if (terminal.json) terminal.printJson({ ...clearing, labels: [...labels] });
    else terminal.print(visible(`took ${labels.join(", ")} off ${clearing.workspace}`));
    return EXIT_OK;
  },
};

import { resolve } from "node:path";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { explainRefusedDirectory } from "./labels-refusal.ts";

export const labelsShowCommand: Command = {
  details:
    "The labels of a directory apply to the directories around it and below it. A session that works there carries them from then on.",
  arguments: [{ name: "<workspace>", description: "the directory" }],
  examples: ["narthex labels show ~/project"],

  async run(invocation) {
    const { terminal } = invocation;
    const [named] = invocation.arguments;
    if (named === undefined) throw usageError("labels show needs a directory");
    const workspace = resolve(named);
    const labels = await withConnection(invocation, "labels show", (kernel) =>
      kernel.getWorkspaceLabels(workspace),
    ).catch(explainRefusedDirectory);
    if (terminal.json) terminal.printJson({ workspace, labels: [...labels] });
    else {
      terminal.print(
        ...renderFacts([
          ["workspace", workspace],
          ["labels", labels.join(", ") || "none"],
        ]),
      );
    }
    return EXIT_OK;
  },
};

import { SignCheckpointResponseSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import type { Command } from "./command.ts";

export const ledgerCheckpointCommand: Command = {
  details:
    "A checkpoint is a signed statement of how many records there are, and of the root of the tree over them. Whoever keeps " +
    "it can be shown later that nothing before it was changed. Where nothing is new, the newest one is printed again. A " +
    "kernel that serves signs by itself as well; `checkpoints` in narthex.yaml says when.",
  examples: ["narthex ledger checkpoint", "narthex ledger checkpoint > kept-elsewhere.note"],

  async run(invocation) {
    const { terminal } = invocation;
    const given = await withConnection(invocation, "ledger checkpoint", (kernel) => kernel.signCheckpoint());
    if (terminal.json) {
      terminal.printJson(messageToJson(SignCheckpointResponseSchema, given));
      return EXIT_OK;
    }
    terminal.note(given.signed ? `verifier key: ${given.verifierKey}` : "nothing new; the newest checkpoint is");
    terminal.print((given.checkpoint?.note ?? "").trimEnd());
    return EXIT_OK;
  },
};

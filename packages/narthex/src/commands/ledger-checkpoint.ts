import { SignCheckpointResponseSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import type { Command } from "./command.ts";

export const ledgerCheckpointCommand: Command = {
  details:
    "A checkpoint is a signed statement of the number of records and the root of the Merkle tree over them. A person who keeps " +
    "it can later be shown that nothing before it was changed. If there are no new records, the newest checkpoint is printed again. A " +
    "serving kernel also signs by itself; see `checkpoints` in narthex.yaml.",
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

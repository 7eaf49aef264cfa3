import { create, RotateLogKeyRequestSchema, RotateLogKeyResponseSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command } from "./command.ts";

export const ledgerRotateKeyCommand: Command = {
  details:
    "The key in use signs a last checkpoint, then a note that names the new key, which signs that note as well and the next " +
    "checkpoint. All of it is in the ledger, and the notes are in `log/keys`, so that whoever trusts the first key can " +
    "follow. The old private key is deleted. Where it is gone already, as in a home that was restored without its keys, --lost begins " +
    "a new one that nothing vouches for: whoever trusts the old key is told so by `ledger verify --key`, and has to be told the new one " +
    "by a way that he trusts. What is left in the place of the old key is kept beside it, as `log-signing-key.lost.pem`.",
  options: [{ flags: "--lost", description: "the key in use is gone: begin another without a hand-over" }],
  examples: ["narthex ledger rotate-key", "narthex ledger rotate-key --lost"],

  async run(invocation) {
    const { terminal, options } = invocation;
    const request = create(RotateLogKeyRequestSchema, { lost: options.flag("lost") });
    const rotated = await withConnection(invocation, "ledger rotate-key", (kernel) => kernel.rotateLogKey(request));
    if (terminal.json) {
      terminal.printJson(messageToJson(RotateLogKeyResponseSchema, rotated));
      return EXIT_OK;
    }
    terminal.print(
      ...renderFacts([
        ["verifier key", rotated.verifierKey],
        ["before", rotated.previousVerifierKey],
        ["announced in", `record ${rotated.recordIndex}`],
        ["signs from", `${rotated.checkpoint?.treeSize ?? 0n} records on`],
      ]),
    );
    return EXIT_OK;
  },
};

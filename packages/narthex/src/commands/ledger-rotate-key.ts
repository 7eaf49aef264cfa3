import { create, RotateLogKeyRequestSchema, RotateLogKeyResponseSchema } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command } from "./command.ts";

export const ledgerRotateKeyCommand: Command = {
  details:
    "The current key signs a last checkpoint and a note that names the new key; the new key signs that note as well, and the next " +
    "checkpoint. All of it is in the ledger, and the notes are in `log/keys`, so that a reader who trusts the first key can " +
    "follow. The old private key is deleted. If it is lost already, as in a home that was restored without its keys, --lost starts " +
    "a new key that nothing vouches for: `ledger verify --key` reports that to readers who trust the old key, and they must learn the " +
    "new one through a channel that they trust. A damaged old key is kept beside the new one, as `log-signing-key.lost.pem`.",
  options: [{ flags: "--lost", description: "the current key is lost: start another one without a hand-over" }],
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

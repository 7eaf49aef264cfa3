import { createReadStream } from "node:fs";
import { toHex } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { findToken } from "../connection/session-token.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";
import { parseContentHash } from "./content-hash.ts";

const CHUNK_BYTES = 256 * 1024;

export const casPutCommand: Command = {
  details: "Prints the content's BLAKE3 hash, by which the session can name it from now on.",
  arguments: [{ name: "<file>", description: "the file to store, or - for standard input" }],
  options: [
    { flags: "--session <id>", description: "the session that stores it: an id, or @FILE holding its token" },
    { flags: "--label <label>", description: "a label the content carries; may be repeated", repeatable: true },
    { flags: "--expect <hash>", description: "refuse unless the bytes have this hash" },
  ],
  examples: ["narthex cas put report.pdf --session ses_abcdefghij234567abcd --label untrusted"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const token = await findToken(invocation);
    const expected = options.text("expect");
    const put = {
      token,
      expectedHash: expected === undefined ? undefined : parseContentHash(expected, "--expect"),
      labels: options.texts("label"),
      chunks: readSource(invocation),
    };
    const { hash, size, labels } = await withConnection(invocation, "cas put", (kernel) => kernel.putContent(put));
    if (terminal.json) terminal.printJson({ hash: toHex(hash), size, labels: [...labels] });
    else terminal.print(toHex(hash));
    return EXIT_OK;
  },
};

async function* readSource(invocation: Invocation): AsyncGenerator<Uint8Array> {
  const path = invocation.arguments[0] ?? "-";
  if (path === "-") {
    yield* invocation.input;
    return;
  }
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) yield chunk;
  } catch (cause) {
    throw new CommandError("INVALID_INPUT", `the file \`${path}\` cannot be read`, {
      cause,
      next: "name a file you can read, or - for standard input",
    });
  }
}

import { withConnection } from "../connection/open-connection.ts";
import { findNamedToken } from "../connection/session-token.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";
import { parseContentHash } from "./content-hash.ts";
import { saveContent, showContent } from "./content-output.ts";

export const casGetCommand: Command = {
  details: "With --session, content that session may name; without, any content, read with the administrator's right.",
  arguments: [{ name: "<hash>", description: "the content's BLAKE3 hash, in hex" }],
  options: [
    { flags: "--session <id>", description: "read as this session: an id, or @FILE holding its token" },
    { flags: "--out <file>", description: "write to this file instead of standard output" },
    { flags: "--offset <bytes>", description: "skip this many bytes (default: 0)" },
    { flags: "--limit <bytes>", description: "at most this many bytes (default: to the end)" },
  ],
  examples: ["narthex cas get af1349b9...c9b3e8 --out report.pdf"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const hash = parseContentHash(invocation.arguments[0] ?? "", "cas get");
    const token = await findNamedToken(invocation);
    const offset = options.count("offset") ?? 0;
    const limit = options.count("limit") ?? 0;
    const out = options.text("out");
    return withConnection(invocation, "cas get", async (kernel) => {
      const content = await kernel.getContent({ token, hash, offset, limit });
      const whole = offset === 0 && (limit === 0 || limit >= content.size);
      const expectedHash = whole ? hash : undefined;
      if (out !== undefined) {
        const saved = await saveContent(content.chunks, out, expectedHash);
        const facts = { size: content.size, labels: [...content.labels], file: saved.path, bytes_written: saved.bytes };
        if (terminal.json) terminal.printJson(facts);
        else terminal.note(`wrote ${saved.bytes} bytes to ${saved.path}`);
        return EXIT_OK;
      }
      await showContent(content, terminal, expectedHash);
      return EXIT_OK;
    });
  },
};

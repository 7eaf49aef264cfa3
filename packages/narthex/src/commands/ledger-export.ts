import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { type ConnectionRequest, reachKernel, tryServicesConnection } from "../connection/open-connection.ts";
import { openOfflineStore, type OfflineStore } from "../connection/offline-store.ts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatCount } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const ledgerExportCommand: Command = {
  details:
    "Writes one file that `narthex ledger verify FILE` and `narthex replay FILE` take on any machine: records, content, and " +
    "what proves them. The same ledger gives the same bytes. Of what is labelled secret only hashes go along. Overwrites " +
    "nothing.",
  arguments: [{ name: "<file>", description: "the file to write" }],
  options: [{ flags: "--session <id>", description: "only this session" }],
  examples: [
    "narthex ledger export ledger.bundle",
    "narthex ledger export --session ses_abcdefghij234567abcd session.bundle",
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const [name] = invocation.arguments;
    if (name === undefined) throw usageError("ledger export needs a file to write");
    const sessionId = options.text("session") ?? "";
    const bytes = await writeBundleFile(resolve(name), exportHome(invocation, sessionId));
    if (terminal.json) terminal.printJson({ file: resolve(name), bytes, session_id: sessionId });
    else terminal.print(visible(`wrote ${formatCount(BigInt(bytes))} bytes to ${name}`));
    return EXIT_OK;
  },
};

async function* exportHome(request: ConnectionRequest, sessionId: string): AsyncGenerator<Uint8Array> {
  const { environment, signal } = request;
  const ledger = await reachKernel<OfflineStore, OfflineStore>(request, {
    tryRemote: tryServicesConnection,
    openLocal: (path, waitMs) => openOfflineStore(path, { command: "ledger export", waitMs, environment }),
  });
  try {
    yield* ledger.exportLedger(sessionId, signal);
  } finally {
    await ledger.close();
  }
}

/** Writes a bundle and removes the file again if it cannot be completed. */
async function writeBundleFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, "wx", 0o600).catch((cause: unknown) => {
    throw new CommandError("INVALID_INPUT", `\`${path}\` cannot be written`, {
      cause,
      next: "name a file that is not there yet, in a directory you can write to",
    });
  });
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    await file.sync();
    await file.close();
    return bytes;
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

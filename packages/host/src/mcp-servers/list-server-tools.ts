import { chmod, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Listing } from "./listing.ts";
import type { ServerPorts, ServerSource } from "./server-source.ts";
import { startServer } from "./start-server.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

/** Starts a server once, over an empty workspace, and lists its tools. Throws EXECUTION_FAILED and similar errors. */
export async function listServerTools(ports: ServerPorts, source: ServerSource, signal: AbortSignal): Promise<Listing> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-mcp-")));
  try {
    // The user that the server runs as must be able to enter the directory.
    await chmod(workspace, 0o755);
    const access = source.settings.workspace === "none" ? "none" : "read";
    const mayFork = [source.settings.defaultProfile, ...source.settings.tools.values()].some(({ effects = [] }) =>
      effects.includes("process_spawn"),
    );
    const { connection, listing, ended } = await startServer(
      ports,
      source,
      { sessionId: "", workspace, access, mayFork },
      signal,
    );
    connection.end("its tools are known");
    await ended;
    return listing;
  } finally {
    removeOwnTree(workspace);
  }
}

import { chmod, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Listing } from "./listing.ts";
import type { ServerPorts, ServerSource } from "./server-source.ts";
import { startServer } from "./start-server.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

/** Starts a server once, over an empty workspace, to see which tools it has. Throws EXECUTION_FAILED and the like. */
export async function listServerTools(ports: ServerPorts, source: ServerSource, signal: AbortSignal): Promise<Listing> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-mcp-")));
  try {
    // Whoever the server runs as has to get in.
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

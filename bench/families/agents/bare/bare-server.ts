import { fileURLToPath } from "node:url";
import { connectHttp } from "../../calls/mcp/connect-http.ts";
import { type Pair, toPair } from "../../calls/mcp/connect-pairs.ts";
import { connectStdio, type Revision } from "../connect-client.ts";

const SERVER = fileURLToPath(new URL("stdio-server.ts", import.meta.url));

/** The MCP SDK v2 alone: a tool that returns its input, without policy or log. */
export async function bareOverStdio(revision: Revision): Promise<Pair> {
  return toPair(await connectStdio([SERVER], revision));
}

/** Its documented way in the current revision, the fastest that it has in the previous one. */
export function bareOverHttp(revision: Revision): Promise<Pair> {
  return connectHttp(revision === "current" ? "per-request" : "per-session");
}

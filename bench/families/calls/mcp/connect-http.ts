import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startServer } from "../../../harness/start-server.ts";
import { type Pair, toPair } from "./connect-pairs.ts";

const SERVER = fileURLToPath(new URL("http-server.ts", import.meta.url));

/** A server in another process and a client in this one. */
export async function connectHttp(way: "per-request" | "per-session"): Promise<Pair> {
  const { firstLine, stop } = await startServer([SERVER, way]);
  // The newest protocol that the server speaks: it needs fewer bytes and checks.
  const mode = way === "per-request" ? "auto" : "legacy";
  const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${firstLine}/mcp`)));
  const pair = toPair(client);
  return {
    call: (n) => pair.call(n),
    async close() {
      await pair.close();
      await stop();
    },
  };
}

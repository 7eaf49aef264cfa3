/** The MCP SDK v2 with as many tools as its argument says, listed as they are, in a process of its own. */
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { smallTools } from "../small-tools.ts";

const tools = smallTools(Number(process.argv[2]));

serveStdio(() => {
  const server = new Server({ name: "plain", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  return server;
});

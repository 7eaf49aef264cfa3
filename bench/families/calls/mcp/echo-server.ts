import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A server of the MCP SDK v2 with one tool, registered the usual way: it returns its input, without policy or log. */
export function createEchoServer(): McpServer {
  const server = new McpServer({ name: "plain", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Returns its input.", inputSchema: z.object({ n: z.number(), text: z.string() }) },
    (input) => ({ content: [{ type: "text", text: JSON.stringify(input) }] }),
  );
  return server;
}

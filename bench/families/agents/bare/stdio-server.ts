/** The MCP SDK v2 over standard input and output, in a process of its own. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createEchoServer } from "../../calls/mcp/echo-server.ts";

serveStdio(createEchoServer);

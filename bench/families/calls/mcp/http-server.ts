/** The MCP SDK v2 over Streamable HTTP in a process of its own: prints its port, then serves. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createEchoServer } from "./echo-server.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** As its documentation serves: a server made for every request. */
function perRequest(): Handle {
  // Its own types of a request leave out that a field may be there and undefined.
  return toNodeHandler(createMcpHandler(createEchoServer)) as Handle;
}

/** The fastest of the ways it has: one server to a session, answers as plain JSON instead of event streams. */
function perSession(): Handle {
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (request, response) => {
    const transport = transports.get(String(request.headers["mcp-session-id"])) ?? (await open());
    await transport.handleRequest(request, response);
  };

  async function open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await createEchoServer().connect(transport);
    return transport;
  }
}

const handle = process.argv[2] === "per-session" ? perSession() : perRequest();
const server = createServer((request, response) => void handle(request, response));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});

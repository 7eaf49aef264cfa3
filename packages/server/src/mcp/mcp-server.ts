import { type McpRequestContext, Server, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@narthex/contracts";
import { callTool, toErrorResult, type McpClient } from "./call-tool.ts";
import { readClientInfo } from "./read-client-info.ts";
import { CONTENT_TEMPLATE } from "./content-uri.ts";
import { errorResult } from "./mcp-result.ts";
import type { McpSession } from "./mcp-session.ts";
import { readResource } from "./read-resource.ts";

export interface McpExchange {
  readonly era: McpRequestContext["era"];
  /** Whether a disconnect means that the call should be cancelled. */
  readonly leavingCancels: boolean;
  /** Returns the arguments of a tool call exactly as sent; undefined if it was cancelled before it began. */
  argumentsOf(context: ServerContext): JsonObject | undefined;
  /** Sent with the first response to a client that reads them. */
  readonly instructions?: string | undefined;
  /** Called for every tool call that the protocol's checks accept. */
  onCall?(context: ServerContext, client: McpClient): void;
}

/** Creates the protocol side of a session: one for a connection, or for one request. */
export function createMcpServer(session: McpSession, exchange: McpExchange): Server {
  const { era, leavingCancels, argumentsOf, onCall, instructions } = exchange;
  const { version, tools, recent } = session;
  const server = new Server(
    { name: "narthex", title: "Narthex", version },
    {
      capabilities: { tools: { listChanged: true }, resources: {} },
      requestState: { verify: (state, context) => session.requestStates.verify(state, context) },
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: await tools.refresh() }));
  server.setRequestHandler("tools/call", async ({ params: { name } }, context) => {
    const input = argumentsOf(context);
    if (input === undefined) return errorResult("CANCELLED: the call was cancelled before it began");
    const client = { era, leavingCancels, ...readClientInfo(server, context) };
    onCall?.(context, client);
    try {
      return await callTool({ name, input, client, context }, session);
    } catch (fault) {
      return toErrorResult(fault, name, session);
    }
  });
  server.setRequestHandler("resources/list", () => ({ resources: recent.list() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [RESULT_TEMPLATE] }));
  server.setRequestHandler("resources/read", ({ params }) => readResource(params.uri, session));

  return server;
}

const RESULT_TEMPLATE = {
  uriTemplate: CONTENT_TEMPLATE,
  name: "content",
  title: "Content of this session by its BLAKE3 hash",
  description:
    "Results and other content the session may name. `offset` and `limit` are bytes; pages name the next one.",
};

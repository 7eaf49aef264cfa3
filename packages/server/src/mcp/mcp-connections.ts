import { type AuthInfo, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { JsonObject } from "@narthex/contracts";
import { HttpRefusal, INVALID_REQUEST } from "./http-refusal.ts";
import type { McpHttpLimits } from "./mcp-http-limits.ts";
import { createMcpServer, type McpExchange } from "./mcp-server.ts";
import type { McpSession } from "./mcp-session.ts";
import { createRecentEvents } from "./recent-events.ts";

/** A request of the previous revision, from an authenticated session. */
export interface ConnectionRequest {
  readonly request: Request;
  readonly sessionId: string;
  readonly session: McpSession;
  readonly authInfo: AuthInfo;
  /** Undefined for a GET and a DELETE. */
  readonly message: JsonObject | undefined;
  /** Aborts when the whole response was sent, or the client has stopped reading. */
  readonly finished: AbortSignal;
}

/** The connections of the previous revision, which a client opens, names in every request, and ends. */
export interface McpConnections {
  serve(request: ConnectionRequest): Promise<Response>;
  /** Closes connections that were unused for a while, and those whose session has ended. */
  sweep(isOpen: (token: string) => Promise<boolean>): Promise<void>;
  /** Notifies the clients of these sessions. */
  notifyToolsChanged(sessionIds: ReadonlySet<string>): Promise<void>;
  /** Ends the streams that only wait for events. */
  endIdleStreams(): void;
  close(): Promise<void>;
}

interface Connection {
  readonly id: string;
  readonly sessionId: string;
  readonly token: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  readonly running: Set<string | number>;
  usedAtMs: number;
}

const ID_HEADER = "mcp-session-id";
/** How long a client waits after a broken stream before it requests the missed messages. */
const RETRY_MS = 1000;

export function createMcpConnections(
  limits: McpHttpLimits,
  exchange: Omit<McpExchange, "era" | "leavingCancels">,
): McpConnections {
  /** Least recently used first. */
  const connections = new Map<string, Connection>();

  async function open({ session, sessionId, authInfo }: ConnectionRequest): Promise<Connection> {
    const id = crypto.randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: createRecentEvents(),
      retryInterval: RETRY_MS,
    });
    const instructions = await session.instructions();
    const server = createMcpServer(session, { ...exchange, era: "legacy", leavingCancels: false, instructions });
    const connection: Connection = {
      id,
      sessionId,
      token: authInfo.token,
      transport,
      server,
      running: new Set(),
      usedAtMs: performance.now(),
    };
    await server.connect(transport);
    const closed = transport.onclose;
    transport.onclose = () => {
      connections.delete(id);
      closed?.();
    };
    return connection;
  }

  /** SECURITY: a connection serves only the session that opened it; for any other session it does not exist. */
  function find({ request, sessionId }: ConnectionRequest): Connection {
    const id = request.headers.get(ID_HEADER);
    if (id === null) throw new HttpRefusal(400, "", "open a connection with `initialize` first, and name it");
    const connection = connections.get(id);
    if (connection?.sessionId !== sessionId) throw new HttpRefusal(404, "", "this connection has ended; open another");
    connections.delete(id);
    connections.set(id, connection);
    connection.usedAtMs = performance.now();
    return connection;
  }

  async function serveNew(asked: ConnectionRequest): Promise<Response> {
    const connection = await open(asked);
    const answer = await handle(connection, asked);
    if (!answer.ok) {
      await connection.transport.close();
      return answer;
    }
    connections.set(connection.id, connection);
    const [oldest] = connections.values();
    if (connections.size > limits.maxConnections) await oldest?.transport.close();
    return answer;
  }

  async function handle({ transport }: Connection, asked: ConnectionRequest): Promise<Response> {
    const { request, message, authInfo } = asked;
    return transport.handleRequest(request, { authInfo, ...(message && { parsedBody: message }) });
  }

  async function serveExisting(connection: Connection, asked: ConnectionRequest): Promise<Response> {
    const { running } = connection;
    const id = requestIdOf(asked.message);
    if (id === undefined) return handle(connection, asked);
    if (running.has(id)) {
      throw new HttpRefusal(400, "duplicate_id", "a request with this id is running", { code: INVALID_REQUEST });
    }
    if (running.size >= limits.maxRequestsPerConnection) throw new HttpRefusal(429, "", "too many requests at once");
    running.add(id);
    asked.finished.addEventListener("abort", () => running.delete(id), { once: true });
    return handle(connection, asked);
  }

  return {
    serve(asked) {
      const opens = asked.message?.["method"] === "initialize" && !asked.request.headers.has(ID_HEADER);
      return opens ? serveNew(asked) : serveExisting(find(asked), asked);
    },
    async sweep(isOpen) {
      const idleSince = performance.now() - limits.idleTimeoutMs;
      const asked = new Map<string, Promise<boolean>>();
      const isOpenStill = (sessionId: string, token: string): Promise<boolean> => {
        const open = asked.get(sessionId) ?? isOpen(token);
        asked.set(sessionId, open);
        return open;
      };
      for (const { token, sessionId, transport, running, usedAtMs } of connections.values()) {
        const isIdle = running.size === 0 && usedAtMs < idleSince;
        if (isIdle || !(await isOpenStill(sessionId, token))) await transport.close();
      }
    },
    async notifyToolsChanged(sessionIds) {
      const told = [...connections.values()].filter(({ sessionId }) => sessionIds.has(sessionId));
      // A client without an open stream cannot be notified.
      await Promise.all(told.map(({ server }) => server.sendToolListChanged().catch(() => undefined)));
    },
    endIdleStreams() {
      for (const { transport } of connections.values()) transport.closeStandaloneSSEStream();
    },
    async close() {
      await Promise.all([...connections.values()].map(({ transport }) => transport.close()));
    },
  };
}

function requestIdOf(message: JsonObject | undefined): string | number | undefined {
  const id = message?.["method"] === undefined ? undefined : message["id"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

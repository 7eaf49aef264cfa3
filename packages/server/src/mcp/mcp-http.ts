import { type AuthInfo, createMcpHandler, isLegacyRequest, type ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject, isKernelError, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import type { Kernel, Logger } from "@narthex/kernel";
import { type ByteBudget, getByteBudget } from "../byte-budget.ts";
import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import { runFastPathCall, type McpClient } from "./call-tool.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { createMcpConnections } from "./mcp-connections.ts";
import type { McpHttp, McpHttpServingOptions } from "./mcp-door.ts";
import { DEFAULT_MCP_HTTP_LIMITS, type McpHttpLimits } from "./mcp-http-limits.ts";
import { MCP_PATH } from "./mcp-path.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpSession } from "./mcp-session.ts";
import { createKernelSource, type McpSource } from "./mcp-source.ts";
import { parseFastPathCall } from "./fast-path-call.ts";
import { type FastPathExchange, toFastPathExchange } from "./fast-path-exchange.ts";
import { readMessage } from "./read-message.ts";
import { createSessionTable } from "./session-table.ts";
import { createCoalescedNotifier } from "./coalesced-notifier.ts";
import { sendJson, sendWebResponse, toWebRequest } from "./web-exchange.ts";

export interface McpHttpOptions extends McpHttpServingOptions {
  readonly kernel: Kernel;
  /** Budget of bytes in flight; the kernel's own by default. */
  readonly budget?: ByteBudget;
  readonly log?: Logger;
}

export interface McpSourceOptions extends Omit<McpHttpOptions, "kernel"> {
  readonly source: McpSource;
  readonly budget: ByteBudget;
}

interface Exchange {
  readonly session: McpSession;
  /** Arguments of a tool call, exactly as sent. */
  readonly input: JsonObject;
  /** Whether it is a discovery request. */
  readonly isDiscovery: boolean;
  /**
   * Whether the response may become a template: the SDK's checks accepted the call, and its client gets no approval
   * forms.
   */
  mayTeach: boolean;
}

/** Serves MCP for every session of a kernel. */
export function createMcpHttp({ kernel, budget = getByteBudget(kernel), ...options }: McpHttpOptions): McpHttp {
  return serveSource({ ...options, budget, source: createKernelSource(kernel) });
}

export function serveSource(options: McpSourceOptions): McpHttp {
  const { source, budget, log } = options;
  const limits: McpHttpLimits = { ...DEFAULT_MCP_HTTP_LIMITS, ...options.limits };
  /** The exchange of a request, by the authentication info that the SDK passes along. */
  const exchanges = new WeakMap<AuthInfo, Exchange>();
  const argumentsOf = ({ http }: ServerContext): JsonObject | undefined =>
    http?.authInfo === undefined ? undefined : exchanges.get(http.authInfo)?.input;
  const connections = createMcpConnections(limits, { argumentsOf });
  const sessions = createSessionTable(source, options, limits);
  const stopping = new AbortController();
  const modern = createMcpHandler(
    async ({ authInfo }) => {
      const exchange = authInfo === undefined ? undefined : exchanges.get(authInfo);
      if (exchange === undefined) throw new KernelError("INTERNAL", "an MCP request without its session");
      // In the current revision a client cancels by disconnecting.
      const onCall = (_: ServerContext, { takesForms }: McpClient): void => {
        exchange.mayTeach = exchange.session.elicitation !== true || !takesForms;
      };
      const { session } = exchange;
      const instructions = exchange.isDiscovery ? await session.instructions() : undefined;
      return createMcpServer(session, { era: "modern", leavingCancels: true, argumentsOf, onCall, instructions });
    },
    { legacy: "reject" },
  );
  const sweep = (): void => void connections.sweep(sessions.isOpen).catch(() => undefined);
  const sweeping = setInterval(sweep, limits.sweepMs).unref();
  const changed = createCoalescedNotifier(async () => {
    const looked = sessions.list().map(async ([id, { tools }]) => ((await tools.hasChanged()) ? [id] : []));
    const ids = new Set((await Promise.all(looked)).flat());
    await connections.notifyToolsChanged(ids);
    // Subscribers learn that something changed, but not what: the next listing contains that.
    if (ids.size > 0) modern.notify.toolsChanged();
  });
  void source.watchTools(changed, stopping.signal).catch(() => undefined);

  function serve(request: NodeRequest, response: NodeResponse, signal: AbortSignal): void {
    let held = 0;
    const take = (bytes: number): boolean => {
      if (response.destroyed || !budget.tryAcquire(bytes)) return false;
      held += bytes;
      return true;
    };
    response.once("close", () => budget.release(held));
    answer(request, signal, take)
      .catch((fault: unknown) => refusal(request, fault))
      .then((answered) => {
        // The unread rest of a body must not be parsed as the next request.
        if (request.httpVersionMajor === 1 && !request.complete) response.setHeader("connection", "close");
        return typeof answered === "string" ? sendJson(answered, response) : sendWebResponse(answered, response);
      })
      .catch(() => response.destroy());
  }

  async function answer(
    request: NodeRequest,
    signal: AbortSignal,
    take: (bytes: number) => boolean,
  ): Promise<Response | string> {
    const token = readBearerToken(request);
    const { sessionId, session } = await sessions.find(token);
    const message = request.method === "POST" ? await readMessage(request, { ...limits, take }) : undefined;
    const plain = message && toFastPathExchange(request, parseFastPathCall(message));
    const frame = plain && session.templates.find(plain.kind);
    if (plain !== undefined && frame !== undefined && !signal.aborted) {
      const running = runFastPathCall({ ...plain.call, leavingCancels: true, gone: signal }, session);
      return frame(plain.call.id, await running.result);
    }
    const isListening = message?.["method"] === "subscriptions/listen";
    const until = isListening ? AbortSignal.any([signal, stopping.signal]) : signal;
    const web = toWebRequest(request, MCP_PATH, until);
    const authInfo: AuthInfo = { token, clientId: sessionId, scopes: [] };
    const isDiscovery = message?.["method"] === "server/discover";
    const exchange = { session, input: argumentsIn(message), isDiscovery, mayTeach: false };
    exchanges.set(authInfo, exchange);
    if (message !== undefined && !(await isLegacyRequest(web, message))) {
      const answered = await modern.fetch(web, { authInfo, parsedBody: message });
      return plain !== undefined && exchange.mayTeach ? learnTemplate(answered, plain, session) : answered;
    }
    return connections.serve({ request: web, sessionId, session, authInfo, message, finished: signal });
  }

  function refusal(request: NodeRequest, fault: unknown): Response {
    const { status, reason, code, message, bytes } = toHttpRefusal(fault);
    if (reason !== "") source.refuse(reason, bytes);
    if (status === 500) log?.("error", "an MCP request failed", { method: request.method ?? "" });
    const headers = status === 401 ? { "www-authenticate": 'Bearer realm="narthex"' } : {};
    return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
  }

  return {
    serve,
    stop() {
      stopping.abort();
      connections.endIdleStreams();
    },
    async close() {
      stopping.abort();
      clearInterval(sweeping);
      await Promise.all([connections.close(), modern.close()]);
    },
  };
}

/** Returns the response unchanged, and keeps everything around its result as a template for calls of its kind. */
async function learnTemplate(
  answered: Response,
  { kind }: FastPathExchange,
  { templates }: McpSession,
): Promise<Response | string> {
  if (answered.status !== 200 || answered.headers.get("content-type") !== "application/json") return answered;
  const text = await answered.text();
  const message: unknown = JSON.parse(text);
  const result = typeof message === "object" && message !== null && "result" in message ? message.result : undefined;
  if (typeof result === "object" && result !== null) templates.learn(kind, result);
  return text;
}

function readBearerToken({ headers }: NodeRequest): string {
  return /^bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

function argumentsIn(message: JsonObject | undefined): JsonObject {
  const params: JsonValue | undefined = message?.["params"];
  const given = params !== undefined && isJsonObject(params) ? params["arguments"] : undefined;
  return given !== undefined && isJsonObject(given) ? given : {};
}

function toHttpRefusal(fault: unknown): HttpRefusal {
  if (fault instanceof HttpRefusal) return fault;
  if (isKernelError(fault)) {
    const isSession = fault.code.startsWith("SESSION_");
    return new HttpRefusal(isSession ? 401 : 503, fault.code, `${fault.code}: ${fault.message}`);
  }
  return new HttpRefusal(500, "", "something went wrong; see the kernel's log", { code: -32_603 });
}

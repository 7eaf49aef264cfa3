import { createContextValues, createConnectRouter, type ConnectRouter } from "@connectrpc/connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { AdminService, KernelService } from "@narthex/contracts";
import type { Kernel, Logger } from "@narthex/kernel";
import { type ByteBudget, createByteBudget } from "../byte-budget.ts";
import { Health } from "@narthex/contracts/health";
import { createAdminService } from "./admin-service.ts";
import { createAuthorization } from "./authorization.ts";
import type { Authorize } from "./token-scope.ts";
import { withIdleTimeout } from "./body-source.ts";
import { createErrorInterceptor } from "./error-interceptor.ts";
import type { MessageContext } from "./buffer-message.ts";
import { createHealthService } from "./health-service.ts";
import type { NodeRequest, NodeResponse } from "./http-listener.ts";
import { createContentMethods } from "./content-methods.ts";
import { createDelegateLease, createReleaseLease } from "./lease-methods.ts";
import type { ProcessMethodsOptions } from "./process-methods.ts";
import { rawMessagesKey, registerBinaryMethods, registerJsonMethods } from "./raw-methods.ts";
import { extractRawMessages } from "./raw-messages.ts";
import { type ServiceLimits, UNAUTHENTICATED_BYTES } from "./service-limits.ts";
import type { ExportLedger } from "./export-stream.ts";
import type { Replay } from "./replay-stream.ts";
import { serveUnaryCall } from "./unary-call.ts";
import type { Verify } from "./verify-stream.ts";

export interface HttpDispatchOptions extends ProcessMethodsOptions {
  readonly kernel: Kernel;
  readonly budget: ByteBudget;
  readonly limits: ServiceLimits;
  readonly authorize: Authorize;
  readonly verify: Verify;
  readonly replay?: Replay | undefined;
  readonly exportLedger?: ExportLedger | undefined;
  readonly log: Logger | undefined;
}

/** Responds to one request that passed the guard. */
export type HttpDispatch = (request: NodeRequest, response: NodeResponse, exchange: Exchange) => void;

export interface Exchange {
  readonly path: string;
  /** Aborts when the client has disconnected, or the door closes. */
  readonly signal: AbortSignal;
}

const CALL_PATH = `/${KernelService.typeName}/Call`;
const RAW_PATHS: ReadonlySet<string> = new Set([
  CALL_PATH,
  `/${KernelService.typeName}/CallStream`,
  `/${KernelService.typeName}/Session`,
]);
const UNARY_TYPE = /^application\/(?:proto|json(?:; ?charset=utf-?8)?)$/i;
const JSON_TYPE = /^application\/(?:[a-z-]+\+)?json\b/i;
/** Maximum duration of a timer, in seconds and in milliseconds. */
const MAX_TIMEOUT_S = 2_147_483;
const MAX_TIMEOUT_MS = 2_147_483_647;

export function createHttpDispatch(options: HttpDispatchOptions): HttpDispatch {
  const { kernel, budget, limits, log } = options;
  const strangers = createByteBudget(UNAUTHENTICATED_BYTES);
  const handlers = createHandlers(options);

  return (request, response, { path, signal }) => {
    const contentType = request.headers["content-type"] ?? "";
    const isJson = JSON_TYPE.test(contentType);
    const gathering: MessageContext = {
      kernel,
      door: toDoor(contentType),
      budget,
      strangers,
      signal,
      isJson,
      maxBytes: isJson ? limits.maxJsonBytes : limits.maxMessageBytes,
      idleTimeoutMs: limits.bodyIdleTimeoutMs,
    };
    if (path === CALL_PATH && UNARY_TYPE.test(contentType)) {
      void serveUnaryCall(request, response, gathering);
      return;
    }
    const handler = (isJson ? handlers.json.get(path) : undefined) ?? handlers.all.get(path);
    if (handler === undefined) {
      response.statusCode = 404;
      response.end();
      return;
    }
    serveConnect(handler, request, response, RAW_PATHS.has(path), gathering).catch(() => {
      // A client that disconnected is not an error.
      if (!signal.aborted) log?.("warn", "an answer could not be sent", { method: handler.method.name });
      response.destroy();
    });
  };
}

async function serveConnect(
  handler: UniversalHandler,
  request: NodeRequest,
  response: NodeResponse,
  isRaw: boolean,
  gathering: MessageContext,
): Promise<void> {
  const contextValues = createContextValues();
  const raw = isRaw ? extractRawMessages(request, gathering) : undefined;
  contextValues.set(rawMessagesKey, raw);
  if (raw !== undefined) response.once("close", () => raw.dispose());
  const answer = await handler({
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    // The host was checked before; handlers never use it.
    url: new URL(request.url ?? "/", "http://narthex").href,
    header: headersOf(request),
    body: raw?.body ?? withIdleTimeout(request, gathering.idleTimeoutMs),
    signal: gathering.signal,
    contextValues,
  });
  await universalResponseToNodeResponse(answer, response);
}

function createHandlers(options: HttpDispatchOptions) {
  const { kernel, limits, authorize, stopping, log } = options;
  const { maxCallsPerStream, maxBytesPerStream } = limits;
  const rawOptions = { kernel, maxCallsPerStream, maxBytesPerStream, stopping };
  const routerOptions = {
    // Requests and responses stay uncompressed: a few bytes must not expand to many.
    acceptCompression: [],
    readMaxBytes: limits.maxOtherMessageBytes,
    jsonOptions: { ignoreUnknownFields: false },
    requestGate: createAuthorization(kernel, authorize),
    interceptors: [createErrorInterceptor(log)],
  };
  const all = createConnectRouter(routerOptions);
  const content = createContentMethods(kernel);
  all.rpc(KernelService.method.listTools, content.listTools);
  all.rpc(KernelService.method.putContent, content.putContent);
  all.rpc(KernelService.method.delegateLease, createDelegateLease(kernel));
  all.rpc(KernelService.method.releaseLease, createReleaseLease(kernel));
  all.rpc(KernelService.method.getContent, content.getContent);
  all.service(AdminService, createAdminService(options));
  all.service(Health, createHealthService(kernel, stopping), { readMaxBytes: 4096 });
  registerBinaryMethods(all, rawOptions);
  const json = createConnectRouter(routerOptions);
  registerJsonMethods(json, rawOptions);
  return { all: byPath(all), json: byPath(json) };
}

function byPath(router: ConnectRouter): ReadonlyMap<string, UniversalHandler> {
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
}

function toDoor(contentType: string): string {
  if (/^application\/grpc-web/i.test(contentType)) return "grpc-web";
  return /^application\/grpc/i.test(contentType) ? "grpc" : "connect";
}

function headersOf(request: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
  }
  clampTimeouts(headers);
  return headers;
}

/** A timeout longer than the maximum of a timer would fire at once. */
function clampTimeouts(headers: Headers): void {
  if (Number(headers.get("connect-timeout-ms")) > MAX_TIMEOUT_MS) {
    headers.set("connect-timeout-ms", `${MAX_TIMEOUT_MS}`);
  }
  const match = /^(\d{1,8})([HMS])$/.exec(headers.get("grpc-timeout") ?? "");
  const unitSeconds = match?.[2] === "H" ? 3600 : match?.[2] === "M" ? 60 : 1;
  if (Number(match?.[1] ?? 0) * unitSeconds > MAX_TIMEOUT_S) headers.set("grpc-timeout", `${MAX_TIMEOUT_S}S`);
}

import type { Log } from "@narthex/kernel";
import { createByteBudget, DEFAULT_BYTES_IN_FLIGHT } from "../byte-budget.ts";
import { closeGracefully } from "../close-gracefully.ts";
import { createHttpListener, type NodeRequest, type NodeResponse } from "../service/http-listener.ts";
import { createRequestGuard, pathOf } from "../service/request-guard.ts";
import { requireLoopback, type ServiceListen, startListening, toDoorAddress } from "../service/service-door.ts";
import { DEFAULT_SERVICE_LIMITS } from "../service/service-limits.ts";
import { createWriteWatch } from "../service/write-watch.ts";
import type { McpHttpChoices } from "./mcp-door.ts";
import { isMcpMethod, isMcpPath, serveSource } from "./mcp-http.ts";
import type { McpSource } from "./mcp-source.ts";

export interface McpDoorOptions extends McpHttpChoices {
  readonly listen: ServiceListen;
  readonly source: McpSource;
  readonly log?: Log;
}

/** A port for MCP and nothing else. */
export interface McpDoor {
  /** With the port that was really opened. */
  readonly address: ServiceListen;
  /** Takes no new requests, lets running ones finish for `graceMs`, then hangs up. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Serves sessions under `/mcp`, wherever their kernel is, on loopback. */
export async function openMcpDoor({ listen, source, ...options }: McpDoorOptions): Promise<McpDoor> {
  requireLoopback(listen);
  const limits = DEFAULT_SERVICE_LIMITS;
  const mcp = serveSource({ ...options, source, budget: createByteBudget(DEFAULT_BYTES_IN_FLIGHT) });
  const writes = createWriteWatch(limits.writeTimeoutMs);
  /** The exchanges that run; aborting one cancels its call. */
  const active = new Map<NodeResponse, AbortController>();
  let isStopping = false;
  let idle: (() => void) | undefined;
  const listener = createHttpListener({ limits, onRequest: receive, onRefused: (reason) => source.refuse(reason) });
  const address = await startListening(listener, listen).catch(async (error: unknown) => {
    writes.close();
    await mcp.close();
    throw error;
  });
  const rejectRequest = createRequestGuard(toDoorAddress(address, {}), (method, path) => {
    return isMcpPath(path) && isMcpMethod(method);
  });

  function receive(request: NodeRequest, response: NodeResponse): void {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const rejection = rejectRequest(request);
    if (rejection !== undefined) source.refuse(rejection.reason);
    if (rejection !== undefined) return reject(response, rejection.status, rejection.message);
    if (isStopping || active.size >= limits.maxRequests) return reject(response, 503, "too much at once; try again");
    if (!isMcpPath(pathOf(request))) return reject(response, 404, "only /mcp is served here");
    const exchange = new AbortController();
    active.set(response, exchange);
    writes.add(response);
    response.once("close", () => {
      exchange.abort();
      active.delete(response);
      writes.remove(response);
      if (active.size === 0) idle?.();
    });
    mcp.serve(request, response, exchange.signal);
  }

  async function whenIdle(): Promise<void> {
    if (active.size > 0) await new Promise<void>((resolve) => (idle = resolve));
  }

  return {
    address,
    async close({ graceMs = 0 } = {}) {
      isStopping = true;
      mcp.stop();
      listener.stop();
      await closeGracefully({
        graceMs,
        finished: () => whenIdle().then(() => listener.drained()),
        cancel: () => active.forEach((exchange) => exchange.abort()),
      });
      listener.destroyAll();
      writes.close();
      await mcp.close();
    },
  };
}

function reject(response: NodeResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(`${message}\n`);
}

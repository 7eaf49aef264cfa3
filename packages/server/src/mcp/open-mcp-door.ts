import type { Logger } from "@narthex/kernel";
import { createByteBudget, DEFAULT_BYTES_IN_FLIGHT } from "../byte-budget.ts";
import { createExchanges, rejectExchange } from "../service/exchanges.ts";
import { createHttpListener, type NodeRequest, type NodeResponse } from "../service/http-listener.ts";
import { createRequestGuard, pathOf } from "../service/request-guard.ts";
import { requireLoopback, type ServiceListen, startListening, toDoorAddress } from "../service/service-door.ts";
import { DEFAULT_SERVICE_LIMITS } from "../service/service-limits.ts";
import type { McpHttpServingOptions } from "./mcp-door.ts";
import { serveSource } from "./mcp-http.ts";
import { isMcpMethod, isMcpPath } from "./mcp-path.ts";
import type { McpSource } from "./mcp-source.ts";

export interface McpDoorOptions extends McpHttpServingOptions {
  readonly listen: ServiceListen;
  readonly source: McpSource;
  readonly log?: Logger;
}

/** A port that serves only MCP. */
export interface McpDoor {
  /** Includes the port that was actually opened. */
  readonly address: ServiceListen;
  /** Takes no new requests, lets running ones finish for `graceMs`, then disconnects. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Serves sessions under `/mcp` on loopback, wherever their kernel is. */
export async function openMcpDoor({ listen, source, ...options }: McpDoorOptions): Promise<McpDoor> {
  requireLoopback(listen);
  const limits = DEFAULT_SERVICE_LIMITS;
  const mcp = serveSource({ ...options, source, budget: createByteBudget(DEFAULT_BYTES_IN_FLIGHT) });
  const exchanges = createExchanges(limits.writeTimeoutMs);
  let isStopping = false;
  const listener = await createHttpListener({
    limits,
    onRequest: receive,
    onRefused: (reason) => source.refuse(reason),
  });
  const address = await startListening(listener, listen).catch(async (error: unknown) => {
    exchanges.drop();
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
    if (rejection !== undefined) {
      source.refuse(rejection.reason);
      rejectExchange(request, response, rejection.status, rejection.message);
    } else if (isStopping || exchanges.size >= limits.maxRequests) {
      rejectExchange(request, response, 503, isStopping ? "shutting down" : "too many requests at once");
    } else if (isMcpPath(pathOf(request))) {
      mcp.serve(request, response, exchanges.begin(response));
    } else {
      rejectExchange(request, response, 404, "only /mcp is served here");
    }
  }

  return {
    address,
    async close({ graceMs = 0 } = {}) {
      isStopping = true;
      mcp.stop();
      await exchanges.close(listener, graceMs);
      await mcp.close();
    },
  };
}

import { closeGracefully } from "../close-gracefully.ts";
import type { HttpListener, NodeRequest, NodeResponse } from "./http-listener.ts";
import { createWriteWatch } from "./write-watch.ts";

/** The active requests of a door. */
export interface Exchanges {
  readonly size: number;
  /**
   * Returns a signal that aborts when no client waits for the response any more, or when the door cancels the request.
   */
  begin(response: NodeResponse): AbortSignal;
  /** Takes no new requests, lets running ones finish for `graceMs`, then cancels them and disconnects. */
  close(listener: HttpListener, graceMs: number): Promise<void>;
  /** Cleans up for a door that never opened. */
  drop(): void;
}

/**
 * Abort reason when the response was closed. One shared instance, because creating it takes longer than handling it.
 */
const OVER = new DOMException("the response was closed", "AbortError");

export function createExchanges(writeTimeoutMs: number): Exchanges {
  const writes = createWriteWatch(writeTimeoutMs);
  const active = new Map<NodeResponse, AbortController>();
  let idle: (() => void) | undefined;

  async function whenIdle(): Promise<void> {
    if (active.size > 0) await new Promise<void>((resolve) => (idle = resolve));
  }

  return {
    get size() {
      return active.size;
    },
    begin(response) {
      const exchange = new AbortController();
      active.set(response, exchange);
      writes.add(response);
      response.once("close", () => {
        exchange.abort(OVER);
        active.delete(response);
        writes.remove(response);
        if (active.size === 0) idle?.();
      });
      return exchange.signal;
    },
    async close(listener, graceMs) {
      const closed = new Promise<void>((resolve) => listener.server.once("close", resolve));
      for (const response of active.keys()) {
        if (!("stream" in response) && !response.headersSent) response.setHeader("connection", "close");
      }
      listener.stop();
      await closeGracefully({
        graceMs,
        finished: () => whenIdle().then(() => listener.drained()),
        cancel: () => active.forEach((exchange) => exchange.abort()),
      });
      listener.destroyAll();
      await closed;
      writes.close();
    },
    drop: () => writes.close(),
  };
}

/** Responds to a request for which no exchange begins. */
export function rejectExchange(request: NodeRequest, response: NodeResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  if (status === 405) response.setHeader("allow", "POST");
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  response.end(`${message}\n`);
}

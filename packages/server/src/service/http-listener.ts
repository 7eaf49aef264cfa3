import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { Http2Sessions } from "./http2-sessions.ts";
import type { ServiceLimits } from "./service-limits.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

export interface TlsIdentity {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
}

export interface HttpListenerOptions {
  readonly limits: ServiceLimits;
  readonly tls?: TlsIdentity;
  onRequest(request: NodeRequest, response: NodeResponse): void;
  /** Called for a connection that never became a request. */
  onRefused(reason: string): void;
}

export interface HttpListener {
  /** The server on which to call `listen`. */
  readonly server: Server;
  /** Number of open connections. */
  readonly connections: number;
  /** Takes no new connections; idle ones are closed, the others after their last response. */
  stop(): void;
  /** Resolves when no connection is left. */
  drained(): Promise<void>;
  destroyAll(): void;
}

const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Listens on one port for HTTP/1.1 and HTTP/2 without negotiation: the first bytes of a connection tell which it is.
 * HTTP/2 and TLS are loaded on first use: few kernels ever need them.
 */
export async function createHttpListener(options: HttpListenerOptions): Promise<HttpListener> {
  const { limits, tls, onRequest, onRefused } = options;
  const sockets = new Set<Socket>();
  let http2: Http2Sessions | undefined;
  let loadingHttp2: Promise<Http2Sessions> | undefined;
  /** Connections whose protocol is not known yet. */
  const undecided = new Set<Socket>();
  let emptied: (() => void) | undefined;

  const http1 = createHttp1(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
      // The guard responds instead.
      requireHostHeader: false,
      maxHeaderSize: 16 * 1024,
      // Small, because each of a thousand unauthenticated connections may hold this much unread data.
      highWaterMark: 16 * 1024,
    },
    onRequest,
  );
  http1.maxRequestsPerSocket = 0;
  http1.on("clientError", (fault: NodeJS.ErrnoException, socket) => {
    // A client that disconnects during a response has sent nothing invalid.
    if (fault.code !== "ECONNRESET" && fault.code !== "EPIPE") onRefused("bad_http");
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  // A server that does not listen itself starts its timeouts only after this event.
  http1.emit("listening");

  async function loadHttp2(): Promise<Http2Sessions> {
    const { createHttp2Sessions } = await import("./http2-sessions.ts");
    http2 = createHttp2Sessions(options);
    return http2;
  }

  const server =
    tls === undefined
      ? createServer({ noDelay: true }, sniff)
      : (await import("node:tls")).createServer(
          {
            key: tls.key,
            cert: tls.cert,
            ALPNProtocols: ["h2", "http/1.1"],
            handshakeTimeout: limits.headersTimeoutMs,
          },
          sniff,
        );
  server.maxConnections = limits.maxConnections;
  server.on("connection", track);
  server.on("drop", () => onRefused("too_many_connections"));
  server.on("tlsClientError", () => onRefused("bad_tls"));

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) emptied?.();
    });
  }

  function sniff(socket: Socket): void {
    let seen: Buffer = Buffer.alloc(0);
    undecided.add(socket);
    const timer = setTimeout(() => {
      onRefused("preface_timeout");
      socket.destroy();
    }, limits.prefaceTimeoutMs);
    const decided = (): void => {
      clearTimeout(timer);
      undecided.delete(socket);
    };
    socket.on("error", () => socket.destroy());
    socket.once("close", decided);
    socket.on("readable", look);

    function look(): void {
      const chunk: unknown = socket.read();
      if (!Buffer.isBuffer(chunk)) return;
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const compared = Math.min(seen.length, HTTP2_PREFACE.length);
      const isHttp2 = seen.compare(HTTP2_PREFACE, 0, compared, 0, compared) === 0;
      if (isHttp2 && compared < HTTP2_PREFACE.length) return;
      socket.off("readable", look);
      if (!isHttp2) handOver((ready) => http1.emit("connection", ready));
      else if (http2 !== undefined) handOver(http2.accept);
      else void waitForHttp2();
    }

    /**
     * SECURITY: until then the connection stays undecided: its timeout runs, closing ends it, and it reads no further.
     */
    async function waitForHttp2(): Promise<void> {
      try {
        loadingHttp2 ??= loadHttp2();
        const { accept } = await loadingHttp2;
        if (!socket.destroyed) handOver(accept);
      } catch {
        socket.destroy();
      }
    }

    function handOver(accept: (socket: Socket) => void): void {
      decided();
      socket.off("close", decided);
      socket.unshift(seen);
      accept(socket);
    }
  }

  return {
    server,
    get connections() {
      return sockets.size;
    },
    stop() {
      server.close();
      http1.close();
      http1.closeIdleConnections();
      http2?.close();
      for (const socket of undecided) socket.destroy();
    },
    drained() {
      http1.closeIdleConnections();
      if (sockets.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        emptied = resolve;
      });
    },
    destroyAll() {
      http2?.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

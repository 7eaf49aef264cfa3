import { constants, createServer, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { HttpListenerOptions } from "./http-listener.ts";

/** The HTTP/2 connections of a listener. */
export interface Http2Sessions {
  /** Serves a connection whose preface is still unread. */
  readonly accept: (socket: Socket) => void;
  /** Ends each connection after its last response. */
  close(): void;
  destroy(): void;
}

export function createHttp2Sessions({
  limits,
  onRequest,
  onRefused,
}: Pick<HttpListenerOptions, "limits" | "onRequest" | "onRefused">): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(
    {
      settings: { maxConcurrentStreams: limits.maxStreamsPerConnection, maxHeaderListSize: 16 * 1024 },
      maxSessionMemory: 10,
    },
    onRequest,
  );
  server.on("sessionError", () => onRefused("bad_http2"));
  server.on("session", (session) => {
    let streams = 0;
    sessions.add(session);
    session.on("stream", (stream) => {
      streams++;
      stream.on("close", () => streams--);
    });
    session.setTimeout(limits.sessionIdleTimeoutMs, () => {
      if (streams === 0) session.close();
    });
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });

  return {
    accept: (socket) => void server.emit("connection", socket),
    close() {
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy(undefined, constants.NGHTTP2_CANCEL);
    },
  };
}

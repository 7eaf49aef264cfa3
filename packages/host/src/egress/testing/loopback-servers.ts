import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

export interface CountingServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Number of connections so far. */
  connections(): number;
  /** Number of connections that are still open. */
  open(): number;
}

/** Serves HTTP on a free port of a loopback address; stops when the test ends. */
export function serveHttp(t: TestContext, listener: RequestListener, address?: string): Promise<CountingServer> {
  return listen(t, createHttpServer({ keepAliveTimeout: 60_000 }, listener), address);
}

/** Serves raw bytes chosen by the test. */
export function serveRaw(t: TestContext, speak: (socket: Socket) => void, address?: string): Promise<CountingServer> {
  return listen(t, createServer(quiet(speak)), address);
}

/** Serves raw bytes over TLS. */
export function serveTls(
  t: TestContext,
  options: TlsOptions,
  speak: (socket: Socket) => void,
): Promise<CountingServer> {
  const server = createTlsServer(options, quiet(speak));
  server.on("tlsClientError", () => undefined);
  return listen(t, server);
}

/** Sends a complete response once the headers of the request have arrived. */
export function saying(...pieces: readonly (string | Buffer)[]): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
    });
  };
}

function quiet(speak: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.on("error", () => socket.destroy());
    speak(socket);
  };
}

async function listen(t: TestContext, server: Server, address = "127.0.0.1"): Promise<CountingServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port, url: `http://${address}:${port}`, connections: () => connections, open: () => sockets.size };
}

import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, mkdtemp } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { isKernelError } from "@narthex/contracts";
import type { EgressGrant, EgressProxy } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";
import { EgressConnections, type ConnectionParts } from "./egress-connections.ts";
import type { EgressSecrets } from "./egress-secrets.ts";
import { parseHostAndPort } from "./egress-url.ts";
import { openTunnel } from "./open-tunnel.ts";
import { sendProxied } from "./send-proxied.ts";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

export interface ProxyParts extends ConnectionParts {
  readonly secrets: EgressSecrets;
  /** Directory in which sockets are created. */
  readonly folder: string;
}

const USER = "narthex";
const MAX_HEADER_BYTES = 32 * 1024;
const HEADERS_MS = 10_000;
/** Buffer size per connection: large enough that neither side stalls between two chunks. */
const HELD_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 256;

/**
 * Opens the gate for sandboxed programs: a proxy on its own socket, for one call.
 *
 * SECURITY: the socket must be accessible to the user that the sandbox runs as, so it is in a folder with an
 * unguessable name, and every client must present the secret word of the call first.
 */
export async function openProxy(pass: EgressGrant, parts: ProxyParts): Promise<EgressProxy> {
  const line = new EgressConnections(pass, parts);
  const word = randomBytes(24).toString("base64url");
  const expected = Buffer.from(`Basic ${Buffer.from(`${USER}:${word}`).toString("base64")}`);
  const detached = new Set<Duplex>();
  const isKnown = (request: IncomingMessage): boolean => {
    const said = Buffer.from(request.headers["proxy-authorization"] ?? "");
    return said.length === expected.length && timingSafeEqual(said, expected);
  };
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    highWaterMark: HELD_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (request, response) => {
    const options = { word, isKnown: isKnown(request), line, secrets: parts.secrets };
    void sendProxied(request, response, options).catch((fault: unknown) => refuse(response, fault));
  });
  // Takes over a connection that the HTTP server no longer tracks.
  const detach = (request: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
    detached.add(socket);
    socket.once("close", () => detached.delete(socket));
    socket.on("error", () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    if (isKnown(request)) return true;
    socket.end(AUTHENTICATION_REQUIRED);
    return false;
  };
  server.on("connect", (request, socket, head) => {
    if (!detach(request, socket, head)) return;
    const opening = openTunnel(request.url ?? "", socket, line, parts.times);
    void opening.catch((fault: unknown) => refuseTunnel(socket, fault));
  });
  server.on("upgrade", (request, socket, head) => {
    if (!detach(request, socket, head)) return;
    const fault = egressBlocked("header", "a connection is not upgraded here; open a tunnel for TLS instead");
    line.refuse(parseHostAndPort(request.url ?? ""), request.method ?? "", fault);
    refuseTunnel(socket, fault);
  });
  const folder = await mkdtemp(join(parts.folder, "gate-"));
  const socketPath = join(folder, "socket");
  await chmod(folder, 0o711);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o666);
  return {
    socketPath,
    credential: `${USER}:${word}`,
    async close() {
      const closed = line.close();
      for (const socket of detached) socket.destroy();
      server.close();
      server.closeAllConnections();
      await closed;
      tryToRemoveOwnTree(folder);
    },
  };
}

const AUTHENTICATION_REQUIRED =
  "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";

/** The client in the sandbox shows this text to its user. */
function refuse(response: ServerResponse, fault: unknown): void {
  if (response.headersSent) return void response.destroy();
  const [status, message] = describe(fault);
  response.writeHead(status, { "content-type": "text/plain", "x-narthex": message, connection: "close" });
  response.end(`${message}\n`);
}

function refuseTunnel(socket: Duplex, fault: unknown): void {
  const [status, message] = describe(fault);
  if (socket.writable) socket.end(`HTTP/1.1 ${status} Refused\r\nX-Narthex: ${message}\r\nContent-Length: 0\r\n\r\n`);
  else socket.destroy();
}

function describe(fault: unknown): [status: number, message: string] {
  if (!isKernelError(fault)) return [502, "the request failed"];
  const message = `${fault.code}: ${fault.message}`.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 500);
  if (fault.code === "TIMEOUT") return [504, message];
  return [fault.code === "UPSTREAM_ERROR" ? 502 : 403, message];
}

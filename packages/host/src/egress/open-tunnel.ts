import type { Duplex } from "node:stream";
import { KernelError } from "@narthex/contracts";
import { canonicalHost, type EgressTimes } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";
import { readClientHello } from "./client-hello.ts";
import type { EgressConnections } from "./egress-connections.ts";
import { relay } from "./relay.ts";

const AUTHORITY = /^(?:\[([0-9a-f:]{2,45})\]|([a-z0-9._-]{1,253})):(\d{1,5})$/i;
const MAX_PORT = 65_535;

/**
 * Opens a tunnel to one host, for TLS only.
 *
 * SECURITY: the content of a tunnel is not visible. So a tunnel needs permission to send, and must start with a TLS
 * handshake for the requested host: on an address that serves many names, only this one can be reached.
 */
export async function openTunnel(
  authority: string,
  client: Duplex,
  line: EgressConnections,
  { connectMs, idleMs }: EgressTimes,
): Promise<void> {
  const target = parseAuthority(authority);
  if (target === undefined) {
    const fault = egressBlocked("host", "this is no host and port to connect to");
    line.refuse({ host: "", port: 0 }, "CONNECT", fault);
    throw fault;
  }
  const exchange = line.begin({ ...target, sends: true }, "CONNECT");
  try {
    const server = await line.connect(exchange);
    try {
      if (client.destroyed) throw clientGone();
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      const hello = await readHello(client, server, target.host, connectMs);
      await relay(client, server, hello, exchange, idleMs);
    } finally {
      server.destroy();
    }
  } catch (fault) {
    exchange.end(fault);
    throw fault;
  }
  exchange.end(undefined);
}

function parseAuthority(authority: string): { readonly host: string; readonly port: number } | undefined {
  const [, address, name, digits] = AUTHORITY.exec(authority) ?? [];
  const host = canonicalHost(address ?? name ?? "");
  const port = Number(digits);
  return host === undefined || port < 1 || port > MAX_PORT ? undefined : { host, port };
}

function clientGone(): KernelError {
  return new KernelError("UPSTREAM_ERROR", "the tunnel was given up");
}

/** Returns the first bytes once they are known to be a TLS handshake for this host. */
function readHello(client: Duplex, server: Duplex, host: string, helloMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const done = (settle: () => void): void => {
      clearTimeout(timer);
      client.off("data", take);
      for (const side of [client, server]) side.off("end", gone).off("close", gone);
      client.pause();
      settle();
    };
    const gone = (): void => done(() => reject(clientGone()));
    const timer = setTimeout(() => done(() => reject(egressBlocked("tunnel", "nothing was said in it"))), helloMs);
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = readClientHello(bytes);
      if (hello.kind === "more") return;
      if (hello.kind === "other") return done(() => reject(egressBlocked("tunnel", "what goes through it is not TLS")));
      if (hello.kind === "hidden") {
        return done(() => reject(egressBlocked("server_name", "a hello with an encrypted name in it; turn ECH off")));
      }
      const isRight = hello.serverName === undefined ? isAddress(host) : canonicalHost(hello.serverName) === host;
      if (isRight) return done(() => resolve(bytes));
      const said = hello.serverName === undefined ? "no server" : `\`${hello.serverName.slice(0, 80)}\``;
      done(() => reject(egressBlocked("server_name", `a tunnel to \`${host}\` asked for ${said}`)));
    };
    client.on("data", take);
    for (const side of [client, server]) side.on("end", gone).on("close", gone);
  });
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^[\d.]+$/.test(host);
}

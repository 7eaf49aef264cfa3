import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** Address of a door, as clients write it. */
export type DoorAddress =
  | {
      readonly kind: "tcp";
      readonly isTls: boolean;
      readonly port: number;
      /** The address listened on and further names, without the port. */
      readonly names: readonly string[];
    }
  | { readonly kind: "unix" };

export interface Rejection {
  readonly status: number;
  /** Reason that the ledger counts. */
  readonly reason: string;
  readonly message: string;
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** Host names that clients of unix sockets send by default, with any port. */
const UNIX_NAMES: ReadonlySet<string> = new Set(["", "localhost", "narthex"]);

/**
 * Creates a check of a request's head that decides whether the request is accepted.
 *
 * SECURITY: any web page can make a browser send requests to a loopback port. The Host check stops names that were
 * rebound to this address, the Origin check stops other pages, and no CORS header is ever sent. GET is only served by
 * `/healthz`, the files of the console, which hold no data, and MCP, which requires a token in a header that no page
 * can set.
 */
export function createRequestGuard(
  address: DoorAddress,
  takes: (method: string, path: string) => boolean = () => false,
) {
  const hosts = address.kind === "tcp" ? listAllowedHosts(address) : UNIX_NAMES;
  const hostOf = (name: string): string =>
    address.kind === "tcp" ? name.toLowerCase() : name.toLowerCase().replace(/:\d{1,5}$/, "");
  const scheme = address.kind === "tcp" && address.isTls ? "https" : "http";
  const origins: ReadonlySet<string> =
    address.kind === "tcp" ? new Set([...hosts].map((host) => `${scheme}://${host}`)) : new Set();

  return function rejectRequest(request: IncomingMessage | Http2ServerRequest): Rejection | undefined {
    const { host, origin } = request.headers;
    const authority = request.headers[":authority"];
    const names = [host, typeof authority === "string" ? authority : undefined].filter((name) => name !== undefined);
    if (names.length === 0) names.push("");
    if (!names.every((name) => hosts.has(hostOf(name)))) {
      return { status: 403, reason: "bad_host", message: "the Host header does not name this server" };
    }
    if (origin !== undefined && !origins.has(origin.toLowerCase())) {
      return { status: 403, reason: "bad_origin", message: "requests of other origins are not taken" };
    }
    if (request.method !== "POST" && !takes(request.method ?? "", pathOf(request))) {
      return { status: 405, reason: "bad_method", message: "use POST" };
    }
    return undefined;
  };
}

/** Returns the path without the query. */
export function pathOf(request: IncomingMessage | Http2ServerRequest): string {
  const [path = ""] = (request.url ?? "").split("?", 1);
  return path;
}

function listAllowedHosts({ port, isTls, names }: Extract<DoorAddress, { kind: "tcp" }>): ReadonlySet<string> {
  const hosts = new Set<string>();
  const isDefaultPort = port === (isTls ? 443 : 80);
  for (const name of [...LOOPBACK_NAMES, ...names]) {
    hosts.add(`${name.toLowerCase()}:${port}`);
    if (isDefaultPort) hosts.add(name.toLowerCase());
  }
  return hosts;
}

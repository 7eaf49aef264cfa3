import { type EgressTarget, canonicalHost } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";

/** Target of a request. */
export interface EgressUrl extends Omit<EgressTarget, "sends"> {
  readonly isSecure: boolean;
  /** Path and query. */
  readonly path: string;
  readonly origin: string;
  readonly href: string;
}

const MAX_PLACE = 253;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Returns host and port of a refused URL, as far as they can be parsed. */
export function parseHostAndPort(text: string, base?: string): Pick<EgressTarget, "host" | "port"> {
  const url = URL.parse(text, base);
  return {
    host: url?.hostname.slice(0, MAX_PLACE) ?? "",
    port: Number(url?.port || (PORTS[url?.protocol ?? ""] ?? 0)),
  };
}

/**
 * Parses a URL. Throws NETWORK_BLOCKED for every scheme but http and https, for user names and passwords, and for hosts
 * in an unusual spelling.
 */
export function parseEgressUrl(text: string, base?: string): EgressUrl {
  const url = URL.parse(text, base);
  if (url === null) throw egressBlocked("host", "this is no URL");
  const standard = PORTS[url.protocol];
  if (standard === undefined)
    throw egressBlocked("scheme", `\`${url.protocol.slice(0, 40)}\`; only http and https leave`);
  if (url.username !== "" || url.password !== "") {
    throw egressBlocked("credentials", "a name or password in a URL; name a secret in a header instead");
  }
  const spelled = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const host = canonicalHost(spelled);
  if (host === undefined || host.includes("*"))
    throw egressBlocked("host", `\`${spelled.slice(0, 80)}\` is no host to ask`);
  return {
    host,
    port: url.port === "" ? standard : Number(url.port),
    isSecure: url.protocol === "https:",
    path: url.pathname + url.search,
    origin: url.origin,
    href: url.href.slice(0, url.href.length - url.hash.length),
  };
}

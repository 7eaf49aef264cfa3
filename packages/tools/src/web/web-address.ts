import { KernelError } from "@narthex/contracts";
import {
  type ApprovalScope,
  canonicalHost,
  type HostPattern,
  type NetworkCapability,
  quoteText,
} from "@narthex/kernel";

/** Where a request goes, spelled in the one way that everybody reads alike. */
export interface WebAddress {
  /** Without its fragment. */
  readonly url: string;
  readonly scheme: "http" | "https";
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** As it is sent: dots resolved, without the query. */
  readonly path: string;
}

/** How a URL is asked for. */
export const URL_FIELD = {
  type: "string",
  minLength: 1,
  maxLength: 8192,
  description: "Absolute, with http or https: https://example.com/page.",
} as const;

const MAX_PORT = 65_535;

/** Throws INVALID_INPUT for what is no plain address of the web. */
export function parseWebAddress(text: string, field = "url"): WebAddress {
  const address = readWebAddress(text);
  if (typeof address !== "string") return address;
  const message = `${quoteText(text)} ${address}`;
  throw new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "format", message }] });
}

/**
 * The address, or what is wrong with it.
 *
 * SECURITY: whoever decides, whoever is asked and the gate must all see the same host. So a text that other readers of
 * URLs read otherwise is refused, and the host is compared as it will be dialled.
 */
export function readWebAddress(text: string): WebAddress | string {
  // A URL parser drops some of these and keeps on reading.
  if (/[\0-\x1f\x7f-\x9f]/.test(text) || !text.isWellFormed()) return "holds control characters";
  if (text.includes("\\")) return "holds a backslash; write it as %5C";
  const url = URL.parse(text);
  if (url === null) return "is no absolute URL such as https://example.com/";
  const scheme = schemeOf(url);
  if (scheme === undefined) return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "") return "must not hold a user name or password";
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  // SECURITY: `*` would be a right over every host.
  if (host.includes("*") || canonicalHost(host) !== host) return "names no host that can be asked: check its spelling";
  const port = url.port === "" ? (scheme === "http" ? 80 : 443) : Number(url.port);
  if (port < 1 || port > MAX_PORT) return `has a port that is not one of 1 to ${MAX_PORT}`;
  url.hash = "";
  return { url: url.href, scheme, host, port, path: url.pathname };
}

function schemeOf({ protocol }: URL): WebAddress["scheme"] | undefined {
  if (protocol === "http:") return "http";
  return protocol === "https:" ? "https" : undefined;
}

export function toHostPattern({ host, port }: WebAddress): HostPattern {
  return { host, ports: [port] };
}

/** The right to ask this very host. */
export function rightFor(kind: NetworkCapability["kind"], address: WebAddress): NetworkCapability {
  return { kind, hosts: [toHostPattern(address)] };
}

/** This host, whatever is asked of it: what an answer for the session covers. */
export function hostScope(kind: NetworkCapability["kind"], { host, port }: WebAddress): ApprovalScope {
  return { kind: "host", host, port, sends: kind === "net_write" };
}

/** What rules may know of a URL besides its host and port. */
export const ADDRESS_FACTS = {
  type: "object",
  properties: {
    url: {
      type: "object",
      properties: {
        scheme: { type: "string", description: "`http` or `https`." },
        path: { type: "string", description: "As it is sent, without the query." },
      },
      required: ["scheme", "path"],
    },
  },
  required: ["url"],
};

export function addressFacts(text: string): { url: { scheme: string; path: string } } {
  const { scheme, path } = parseWebAddress(text);
  return { url: { scheme, path } };
}

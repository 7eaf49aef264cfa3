import { KernelError } from "@narthex/contracts";
import {
  type ApprovalScope,
  canonicalHost,
  type HostPattern,
  type NetworkCapability,
  quoteText,
} from "@narthex/kernel";

/** The target of a request, in a normalized form that every URL parser reads the same way. */
export interface WebAddress {
  /** Without the fragment. */
  readonly url: string;
  readonly scheme: "http" | "https";
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /** As sent: dot segments resolved, without the query. */
  readonly path: string;
}

/** Input schema of a URL. */
export const URL_FIELD = {
  type: "string",
  minLength: 1,
  maxLength: 8192,
  description: "Absolute, with http or https: https://example.com/page.",
} as const;

const MAX_PORT = 65_535;

/** Parses a URL. Throws INVALID_INPUT unless it is a plain http or https URL. */
export function parseWebAddress(text: string, field = "url"): WebAddress {
  const address = readWebAddress(text);
  if (typeof address !== "string") return address;
  const message = `${quoteText(text)} ${address}`;
  throw new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "format", message }] });
}

/**
 * Parses a URL, or returns what is wrong with it.
 *
 * SECURITY: the policy, the person who approves and the gate must all see the same host. Therefore a URL that other
 * parsers read differently is refused, and the host is compared in the form in which it will be dialled.
 */
export function readWebAddress(text: string): WebAddress | string {
  // A URL parser drops some of these characters silently.
  if (/[\0-\x1f\x7f-\x9f]/.test(text) || !text.isWellFormed()) return "holds control characters";
  if (text.includes("\\")) return "holds a backslash; write it as %5C";
  const url = URL.parse(text);
  if (url === null) return "is no absolute URL such as https://example.com/";
  const scheme = schemeOf(url);
  if (scheme === undefined) return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "") return "must not hold a user name or password";
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  // SECURITY: `*` would grant access to every host.
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

/** The capability to contact exactly this host and port. */
export function rightFor(kind: NetworkCapability["kind"], address: WebAddress): NetworkCapability {
  return { kind, hosts: [toHostPattern(address)] };
}

/** The scope of an approval for the session: this host, whatever the request. */
export function hostScope(kind: NetworkCapability["kind"], { host, port }: WebAddress): ApprovalScope {
  return { kind: "host", host, port, sends: kind === "net_write" };
}

/** URL properties that policy rules can use besides host and port. */
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

import { KernelError } from "@narthex/contracts";
import type { EgressTarget, OutgoingRequest } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";
import { type EgressSecrets, fillSecret } from "./egress-secrets.ts";

type RequestedHeaders = NonNullable<OutgoingRequest["headers"]>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 64 * 1024;
/** Headers that define the message framing or the target. Only the gate sets them. */
const GATE_HEADERS = new Set(
  "host content-length transfer-encoding connection keep-alive upgrade te trailer expect http2-settings x-unix-socket".split(
    " ",
  ),
);
const HARMLESS =
  /^(?:accept(?:-language|-encoding)?|user-agent|content-(?:type|language)|range|if-(?:none-match|modified-since))$/i;

/** Headers by which some servers override the request method. */
const OTHER_METHOD = /^x-(?:http-)?method(?:-override)?$/i;

/** SECURITY: permission to read does not include a GET that the server treats as a DELETE. */
export function verifyMethodHeader(name: string, { sends }: Pick<EgressTarget, "sends">): void {
  if (!sends && OTHER_METHOD.test(name))
    throw egressBlocked("header", `\`${name}\` makes of a request that reads another`);
}

/**
 * Returns the headers to send as a flat list of names and values. Throws INVALID_INPUT for headers that would change
 * the message itself.
 */
export function outgoingHeaders(
  headers: RequestedHeaders,
  target: EgressTarget,
  isSecure: boolean,
  secrets: EgressSecrets,
): string[] {
  if (headers.length > MAX_HEADERS) throw new KernelError("INVALID_INPUT", `more than ${MAX_HEADERS} headers`);
  const sent: string[] = [];
  let size = 0;
  for (const [name, asked] of headers) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) throw new KernelError("INVALID_INPUT", "a header has no valid name");
    if (GATE_HEADERS.has(lower) || lower.startsWith("proxy-")) {
      throw new KernelError("INVALID_INPUT", `the header \`${lower}\` cannot be set`);
    }
    verifyMethodHeader(name, target);
    const value = typeof asked === "string" ? asked : fillSecret(asked, target, isSecure, secrets);
    // SECURITY: a line break would end the header and start another.
    if (!VALUE.test(value)) throw new KernelError("INVALID_INPUT", `the header \`${lower}\` holds what no header can`);
    size += name.length + value.length;
    if (size > MAX_HEADER_BYTES)
      throw new KernelError("INVALID_INPUT", `headers of more than ${MAX_HEADER_BYTES} bytes`);
    sent.push(name, value);
  }
  return sent;
}

/**
 * Returns the headers for a redirect to another origin: removes everything that could be a credential, under any name.
 */
export function withoutCredentials(headers: RequestedHeaders): RequestedHeaders {
  return headers.filter(([name, value]) => typeof value === "string" && HARMLESS.test(name));
}

/** Returns the headers for a redirected request without a body. */
export function withoutBodyHeaders(headers: RequestedHeaders): RequestedHeaders {
  return headers.filter(([name]) => !name.toLowerCase().startsWith("content-"));
}

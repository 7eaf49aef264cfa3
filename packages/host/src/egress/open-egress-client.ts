import { KernelError } from "@narthex/contracts";
import type { EgressClient, EgressGrant, HeaderList, IncomingResponse, OutgoingRequest } from "@narthex/kernel";
import { ResponseBodyReader } from "./response-body-reader.ts";
import { egressBlocked } from "./egress-blocked-error.ts";
import { EgressConnections, type ConnectionParts } from "./egress-connections.ts";
import type { EgressSecrets } from "./egress-secrets.ts";
import { type EgressUrl, parseEgressUrl, parseHostAndPort } from "./egress-url.ts";
import { outgoingHeaders, withoutBodyHeaders, withoutCredentials } from "./outgoing-headers.ts";
import type { EgressResponse } from "./send-exchange.ts";
import { ACCEPTED_ENCODINGS, decompressBody } from "./decompress-body.ts";

const MAX_HOPS = 10;
const METHOD = /^[A-Z]{1,20}$/;
const READING = new Set(["GET", "HEAD"]);
const DEFAULTS: readonly (readonly [string, string])[] = [
  ["accept", "*/*"],
  ["accept-encoding", ACCEPTED_ENCODINGS],
  ["user-agent", "narthex"],
];

/** Opens a client for requests of the kernel's own process. */
export function openEgressClient(pass: EgressGrant, parts: ConnectionParts, secrets: EgressSecrets): EgressClient {
  const line = new EgressConnections(pass, parts);

  function send(hop: Hop, silenceMs: number | undefined, signal: AbortSignal): Promise<EgressResponse> {
    const { url, method, headers, body } = hop;
    // SECURITY: a body sends data out, whatever the method is called.
    const sends = !READING.has(method) || (body !== undefined && body.length > 0);
    return line.send(
      {
        url,
        method,
        sends,
        headers: (target) => outgoingHeaders(withDefaults(headers), target, url.isSecure, secrets),
        body,
        silenceMs,
      },
      signal,
    );
  }

  /** Parses the target of a request or redirect. A refused target is recorded like any other refusal. */
  function leadTo(text: string, method: string, from: EgressUrl | undefined, hops: number): EgressUrl {
    try {
      const url = parseEgressUrl(text, from?.href);
      // SECURITY: a request made over TLS must not be repeated in the clear.
      if (from?.isSecure && !url.isSecure) throw egressBlocked("redirect", `from https to http, at \`${url.host}\``);
      if (hops > MAX_HOPS) throw egressBlocked("redirect", `more than ${MAX_HOPS} hops`);
      return url;
    } catch (fault) {
      line.refuse(parseHostAndPort(text, from?.href), method, fault);
      throw fault;
    }
  }

  return {
    async request(request, signal) {
      const { method, headers = [], body } = request;
      if (!METHOD.test(method) || method === "CONNECT" || method === "TRACE") {
        throw new KernelError("INVALID_INPUT", "the method is not one that can be sent");
      }
      let hop: Hop = { url: leadTo(request.url, method, undefined, 0), method, headers, body };
      for (let hops = 1; ; hops++) {
        const answer = await send(hop, request.silenceMs, signal);
        const location = request.redirect === "return" ? undefined : redirectLocation(answer);
        if (location === undefined) return toIncomingResponse(hop, answer, request, pass);
        answer.body.destroy();
        const next = redirectMethod(answer.status, hop.method);
        hop = nextHop(hop, leadTo(location, next, hop.url, hops), next);
      }
    },
    close: () => line.close(),
  };
}

interface Hop {
  readonly url: EgressUrl;
  readonly method: string;
  readonly headers: NonNullable<OutgoingRequest["headers"]>;
  readonly body: Uint8Array | undefined;
}

/** Undefined if the response is not a redirect. */
function redirectLocation({ status, headers }: EgressResponse): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? findHeader(headers, "location") : undefined;
}

function redirectMethod(status: number, method: string): string {
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  return becomesGet ? "GET" : method;
}

function nextHop({ url, method, headers, body }: Hop, to: EgressUrl, next: string): Hop {
  const kept = to.origin === url.origin ? headers : withoutCredentials(headers);
  if (next === method) return { url: to, method, headers: kept, body };
  return { url: to, method: next, headers: withoutBodyHeaders(kept), body: undefined };
}

function toIncomingResponse(
  { url }: Hop,
  { status, headers, body }: EgressResponse,
  { maxBodyBytes }: OutgoingRequest,
  { bounds }: EgressGrant,
): IncomingResponse {
  const allowed = Math.min(maxBodyBytes ?? bounds.maxBodyBytes, bounds.maxBodyBytes);
  const unpacked = decompressBody(body, findHeader(headers, "content-encoding") ?? "");
  const reader = new ResponseBodyReader(unpacked, body, url.host, allowed);
  return { status, headers: toHeaderList(headers), url: url.href, body: reader };
}

function withDefaults(headers: Hop["headers"]): Hop["headers"] {
  if (headers.length === 0) return DEFAULTS;
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...headers, ...DEFAULTS.filter(([name]) => !given.has(name))];
}

function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  return undefined;
}

function toHeaderList(headers: readonly string[]): HeaderList {
  const list: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) list.push([(headers[i] ?? "").toLowerCase(), headers[i + 1] ?? ""]);
  return list;
}

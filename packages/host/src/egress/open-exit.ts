import { KernelError } from "@narthex/contracts";
import type { EgressExit, EgressPass, HeaderList, IncomingAnswer, OutgoingRequest } from "@narthex/kernel";
import { AnswerReader } from "./answer-reader.ts";
import { blocked } from "./blocked.ts";
import { EgressLine, type LineParts } from "./egress-line.ts";
import type { EgressSecrets } from "./egress-secrets.ts";
import { type EgressUrl, parseEgressUrl, placeOf } from "./egress-url.ts";
import { outgoingHeaders, withoutBodyHeaders, withoutCredentials } from "./outgoing-headers.ts";
import type { LineAnswer } from "./send-exchange.ts";
import { ACCEPTED_ENCODINGS, unpackBody } from "./unpack-body.ts";

const MAX_HOPS = 10;
const METHOD = /^[A-Z]{1,20}$/;
const READING = new Set(["GET", "HEAD"]);
const DEFAULTS: readonly (readonly [string, string])[] = [
  ["accept", "*/*"],
  ["accept-encoding", ACCEPTED_ENCODINGS],
  ["user-agent", "narthex"],
];

/** Requests of the kernel's own process. */
export function openExit(pass: EgressPass, parts: LineParts, secrets: EgressSecrets): EgressExit {
  const line = new EgressLine(pass, parts);

  function send(hop: Hop, silenceMs: number | undefined, signal: AbortSignal): Promise<LineAnswer> {
    const { url, method, headers, body } = hop;
    // SECURITY: a body carries data out whatever the method is called.
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

  /** What is refused for where it leads is told of like any other refusal. */
  function leadTo(text: string, method: string, from: EgressUrl | undefined, hops: number): EgressUrl {
    try {
      const url = parseEgressUrl(text, from?.href);
      // SECURITY: what was asked for over TLS is not told to whoever listens.
      if (from?.isSecure && !url.isSecure) throw blocked("redirect", `from https to http, at \`${url.host}\``);
      if (hops > MAX_HOPS) throw blocked("redirect", `more than ${MAX_HOPS} hops`);
      return url;
    } catch (fault) {
      line.refuse(placeOf(text, from?.href), method, fault);
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
        const location = request.redirect === "return" ? undefined : locationOf(answer);
        if (location === undefined) return incoming(hop, answer, request, pass);
        answer.body.destroy();
        const next = methodAfter(answer.status, hop.method);
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

/** Undefined if the answer leads nowhere. */
function locationOf({ status, headers }: LineAnswer): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? headerOf(headers, "location") : undefined;
}

function methodAfter(status: number, method: string): string {
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  return becomesGet ? "GET" : method;
}

function nextHop({ url, method, headers, body }: Hop, to: EgressUrl, next: string): Hop {
  const kept = to.origin === url.origin ? headers : withoutCredentials(headers);
  if (next === method) return { url: to, method, headers: kept, body };
  return { url: to, method: next, headers: withoutBodyHeaders(kept), body: undefined };
}

function incoming(
  { url }: Hop,
  { status, headers, body }: LineAnswer,
  { maxBodyBytes }: OutgoingRequest,
  { bounds }: EgressPass,
): IncomingAnswer {
  const allowed = Math.min(maxBodyBytes ?? bounds.maxBodyBytes, bounds.maxBodyBytes);
  const unpacked = unpackBody(body, headerOf(headers, "content-encoding") ?? "");
  const reader = new AnswerReader(unpacked, body, url.host, allowed);
  return { status, headers: pairs(headers), url: url.href, body: reader };
}

function withDefaults(headers: Hop["headers"]): Hop["headers"] {
  if (headers.length === 0) return DEFAULTS;
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...headers, ...DEFAULTS.filter(([name]) => !given.has(name))];
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  return undefined;
}

function pairs(headers: readonly string[]): HeaderList {
  const list: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) list.push([(headers[i] ?? "").toLowerCase(), headers[i + 1] ?? ""]);
  return list;
}

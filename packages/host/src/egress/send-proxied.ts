import type { IncomingMessage, ServerResponse } from "node:http";
import { KernelError } from "@narthex/contracts";
import type { EgressCredential, EgressTarget } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";
import type { EgressConnections } from "./egress-connections.ts";
import { coversTarget, type EgressSecrets, fillSecret } from "./egress-secrets.ts";
import { type EgressUrl, parseEgressUrl, parseHostAndPort } from "./egress-url.ts";
import { freeBuffer } from "./free-buffer.ts";
import { credentialRedactorFor, type CredentialRedactor, rejectCompressed } from "./credential-redactor.ts";
import { isReadRequest } from "./is-read-request.ts";
import { verifyMethodHeader } from "./outgoing-headers.ts";

export interface ProxiedOptions {
  /** First path segment of requests to the gate itself. */
  readonly word: string;
  /** The request carries valid proxy credentials. */
  readonly isKnown: boolean;
  readonly line: EgressConnections;
  readonly secrets: EgressSecrets;
}

/** Address of the gate inside the sandbox. */
const GATE_ADDRESS = "127.0.0.1:3128";

const GONE = new KernelError("CANCELLED", "the program is gone");

/** Headers that apply to a single connection. */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|host|expect|x-unix-socket)$/i;

/**
 * Forwards one unencrypted request of a program: either to a host by http, or to the gate itself as
 * `/<word>/https://host/path`, for which the gate opens the TLS connection. This makes the request visible, and lets
 * the gate add a credential that the program never holds.
 */
export async function sendProxied(
  request: IncomingMessage,
  response: ServerResponse,
  { word, isKnown, line, secrets }: ProxiedOptions,
): Promise<void> {
  const asked = request.url ?? "";
  const prefix = `/${word}/`;
  const isOfGate = asked.startsWith(prefix);
  if (!isOfGate && !isKnown) {
    response.writeHead(407, { "proxy-authenticate": "Basic", connection: "close" });
    response.end();
    return;
  }
  const method = request.method ?? "GET";
  if (method === "TRACE") throw traceRefused(asked, line);
  const url = parseRequestTarget(isOfGate ? toHttpsUrl(asked.slice(prefix.length)) : asked, method, line);
  // The client may disconnect before there is a response.
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(GONE);
  });
  const credential = line.pass.credentials.find(({ hosts }) => coversTarget(hosts, url));
  const answer = await line.send(
    {
      url,
      method,
      sends: !isReadRequest({
        method,
        path: url.path,
        contentType: request.headers["content-type"],
        hasBody: hasBody(request),
      }),
      headers(target) {
        const headers = withoutHopByHop(request.rawHeaders);
        forEachHeader(headers, (name) => verifyMethodHeader(name, target));
        return credential === undefined ? headers : withCredential(headers, credential, url, target, secrets);
      },
      body: hasBody(request) ? request : undefined,
    },
    gone.signal,
  );
  try {
    const cover = findRedactor(credential, secrets);
    if (cover !== undefined) rejectCompressed(answer.headers);
    const headers = withoutHopByHop(cover === undefined ? answer.headers : cover.headers(answer.headers));
    response.writeHead(answer.status, isOfGate ? withLocation(headers, url, prefix) : headers);
    const body = cover?.body();
    for await (const piece of answer.body) {
      const shown = body === undefined ? piece : body.push(piece);
      const hasRoom = response.write(shown, (fault) => {
        if (!fault) freeBuffer(piece);
      });
      if (!hasRoom) await waitForDrain(response);
    }
    response.end(body?.end());
  } finally {
    answer.body.destroy();
  }
}

/** A client that has disconnected never drains; then the body ends by itself with an error. */
function waitForDrain(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.once("drain", settle).once("close", settle);
  });
}

function parseRequestTarget(text: string, method: string, line: EgressConnections): EgressUrl {
  try {
    return parseEgressUrl(text);
  } catch (fault) {
    line.refuse(parseHostAndPort(text), method, fault);
    throw fault;
  }
}

/** SECURITY: the response to TRACE contains the request, including headers that the gate added. */
function traceRefused(asked: string, line: EgressConnections): KernelError {
  const fault = egressBlocked("header", "TRACE is not sent");
  line.refuse(parseHostAndPort(asked), "TRACE", fault);
  return fault;
}

/**
 * Converts Git's short form for ssh, `git@host:path`, to https on the same host. A user name without a password is not
 * a credential: git keeps it in addresses.
 */
function toHttpsUrl(asked: string): string {
  return asked.replace(/^git@([^:/@]+):\/*/, "https://$1/").replace(/^(https?:\/\/)[^/@:\\]+@/i, "$1");
}

function withoutHopByHop(headers: readonly string[]): string[] {
  const named = new Set<string>();
  forEachHeader(headers, (name, value) => {
    if (name.toLowerCase() === "connection") for (const word of value.split(",")) named.add(word.trim().toLowerCase());
  });
  const kept: string[] = [];
  forEachHeader(headers, (name, value) => {
    if (!HOP_BY_HOP.test(name) && !named.has(name.toLowerCase())) kept.push(name, value);
  });
  return kept;
}

function forEachHeader(headers: readonly string[], see: (name: string, value: string) => void): void {
  for (let i = 0; i + 1 < headers.length; i += 2) see(headers[i] ?? "", headers[i + 1] ?? "");
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** SECURITY: removes a header of the program with the same name, so that it is not sent in addition. */
function withCredential(
  headers: string[],
  { header, value: secret }: EgressCredential,
  url: EgressUrl,
  target: EgressTarget,
  secrets: EgressSecrets,
): string[] {
  const kept: string[] = [];
  forEachHeader(headers, (name, value) => {
    const lower = name.toLowerCase();
    if (lower !== header.toLowerCase() && lower !== "accept-encoding") kept.push(name, value);
  });
  return [...kept, "accept-encoding", "identity", header, fillSecret(secret, target, url.isSecure, secrets)];
}

function findRedactor(
  credential: EgressCredential | undefined,
  secrets: EgressSecrets,
): CredentialRedactor | undefined {
  const secret = credential === undefined ? undefined : secrets.get(credential.value.secret);
  return secret === undefined || "problem" in secret ? undefined : credentialRedactorFor(secret);
}

/** Rewrites the Location header, so that a redirect goes through the gate again. */
function withLocation(headers: string[], url: EgressUrl, prefix: string): string[] {
  const changed = [...headers];
  for (let i = 0; i + 1 < changed.length; i += 2) {
    if (changed[i]?.toLowerCase() !== "location") continue;
    const to = URL.parse(changed[i + 1] ?? "", url.href);
    if (to === null) throw new KernelError("UPSTREAM_ERROR", "the answer leads to what is no URL");
    changed[i + 1] = `http://${GATE_ADDRESS}${prefix}${to.href}`;
  }
  return changed;
}

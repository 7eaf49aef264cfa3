import {
  blake3,
  canonicalJsonBytes,
  isKernelError,
  type JsonValue,
  KernelError,
  toHex,
  utf8,
} from "@narthex/contracts";
import type { IncomingResponse, OutgoingRequest, ToolContext } from "@narthex/kernel";
import { retryAfter } from "../web/status-error.ts";
import { readEndpointResponse } from "./endpoint-response.ts";
import { ENDPOINT_HEADERS, type ReadyEndpoint } from "./http-endpoint.ts";
import { type EndpointRequest, operationRequest } from "./operation-request.ts";

const NO_CONTENT = 204;
/** The first and two more. */
const MAX_TRIES = 3;
const FIRST_WAIT_MS = 250;
/** With these a server says that it has not begun; the word that says when to come back makes it sure. */
const NOT_STARTED_STATUSES: ReadonlySet<number> = new Set([425, 429, 503]);
/** With these somebody on the way says that it does not know. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([502, 504]);

/**
 * Asks an endpoint, and asks again where nothing can happen twice.
 *
 * SPEC: the headers. `narthex-request-id` is the call's id, percent-encoded. `narthex-deadline` is the number of
 * milliseconds that are left, so that no two clocks need to agree. `idempotency-key` is the same for every request of one
 * call, and for the same request id in the same session.
 *
 * Again means: after 425, 429 or 503 with a retry-after, for the server has done nothing yet. After a connection that
 * broke, 502, 504 or one of those three without that header only where the server keeps to the key, for the first
 * request may have been done. At most twice, and never past the call's time.
 */
export async function callEndpoint(
  endpoint: ReadyEndpoint,
  toolId: string,
  input: JsonValue,
  context: ToolContext,
): Promise<JsonValue> {
  const asked = toEndpointRequest(endpoint, input);
  for (let tries = 1; ; tries++) {
    let answer: IncomingResponse | undefined;
    try {
      answer = await context.network.request(requestOf(endpoint, toolId, asked, context));
      // An API may have nothing to say to what it did.
      if (endpoint.operation !== undefined && answer.status === NO_CONTENT) return null;
      return await readEndpointResponse(answer, context.nowMs());
    } catch (fault) {
      const waitMs = tries < MAX_TRIES ? retryDelayMs(answer, fault, endpoint, tries, context.nowMs()) : undefined;
      if (waitMs === undefined || waitMs >= context.timeLeftMs()) throw fault;
      await pause(waitMs, context.signal);
    }
  }
}

/** What an input becomes: a POST of itself, or the operation's own request. */
function toEndpointRequest({ address, operation }: ReadyEndpoint, input: JsonValue): EndpointRequest {
  if (operation !== undefined) return operationRequest(address.url, operation, input);
  return { method: "POST", url: address.url, headers: [], body: utf8(JSON.stringify(input)) };
}

function requestOf(
  { headers }: ReadyEndpoint,
  toolId: string,
  asked: EndpointRequest,
  { requestId, session, timeLeftMs }: ToolContext,
): OutgoingRequest {
  const key = toHex(blake3(canonicalJsonBytes([session.id, requestId, toolId])));
  return {
    method: asked.method,
    url: asked.url,
    headers: [
      [ENDPOINT_HEADERS.accept, "application/json"],
      ...(asked.body === undefined ? [] : [[ENDPOINT_HEADERS.contentType, "application/json"] as const]),
      [ENDPOINT_HEADERS.requestId, encodeURIComponent(requestId.toWellFormed())],
      [ENDPOINT_HEADERS.deadline, String(timeLeftMs())],
      [ENDPOINT_HEADERS.idempotencyKey, key],
      ...asked.headers,
      ...headers,
    ],
    ...(asked.body !== undefined && { body: asked.body }),
    // What a POST is redirected to is another endpoint.
    redirect: "return",
  };
}

/** How long to wait before asking again; undefined if that must not be. */
function retryDelayMs(
  answer: IncomingResponse | undefined,
  fault: unknown,
  { isIdempotent }: ReadyEndpoint,
  tries: number,
  nowMs: number,
): number | undefined {
  const backoffMs = isIdempotent ? FIRST_WAIT_MS * 2 ** (tries - 1) : undefined;
  if (answer === undefined) return isKernelError(fault) && fault.code === "UPSTREAM_ERROR" ? backoffMs : undefined;
  if (NOT_STARTED_STATUSES.has(answer.status)) return retryAfter(answer, nowMs) ?? backoffMs;
  return AMBIGUOUS_STATUSES.has(answer.status) ? backoffMs : undefined;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", stopped, { once: true });
    if (signal.aborted) stopped();
    function done(): void {
      signal.removeEventListener("abort", stopped);
      resolve();
    }
    function stopped(): void {
      clearTimeout(timer);
      reject(new KernelError("CANCELLED", "the call ended before the endpoint could be asked again"));
    }
  });
}

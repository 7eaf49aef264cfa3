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
/** The first request and two retries. */
const MAX_TRIES = 3;
const FIRST_WAIT_MS = 250;
/** Statuses that say the server has not started processing. A retry-after header confirms that. */
const NOT_STARTED_STATUSES: ReadonlySet<number> = new Set([425, 429, 503]);
/** Statuses with which an intermediary says that it does not know whether the request was processed. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([502, 504]);

/**
 * Calls an endpoint, and retries where the operation cannot happen twice.
 *
 * SPEC: the headers. `narthex-request-id` is the call's id, percent-encoded. `narthex-deadline` is the number of
 * milliseconds left, so that clocks need not agree. `idempotency-key` is the same for every request of one call, and
 * for the same request id in the same session.
 *
 * Retries after 425, 429 or 503 with a retry-after header, because the server has not done anything yet. After a broken
 * connection, 502, 504, or one of those three without that header, it retries only if the server respects the key,
 * because the first request may have been processed. At most two retries, and never beyond the call's timeout.
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
      // An API operation may have no result.
      if (endpoint.operation !== undefined && answer.status === NO_CONTENT) return null;
      return await readEndpointResponse(answer, context.nowMs());
    } catch (fault) {
      const waitMs = tries < MAX_TRIES ? retryDelayMs(answer, fault, endpoint, tries, context.nowMs()) : undefined;
      if (waitMs === undefined || waitMs >= context.timeLeftMs()) throw fault;
      await pause(waitMs, context.signal);
    }
  }
}

/** Builds the request for an input: a POST of the input, or the operation's own request. */
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
    // The target of a redirect would be a different endpoint.
    redirect: "return",
  };
}

/** The delay before the next attempt; undefined if a retry is not allowed. */
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

import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from "@connectrpc/connect/protocol-connect";
import { encodeResponse, isKernelError, KernelError, type ToolResponse, ToolResponseSchema } from "@narthex/contracts";
import { invalidRequest, withRequestId } from "../refused-response.ts";
import { createBodySource } from "./body-source.ts";
import { toConnectError } from "./connect-error.ts";
import { type MessageContext, bufferMessage, SessionDenied } from "./buffer-message.ts";
import type { NodeRequest, NodeResponse } from "./http-listener.ts";
import { messageToJson } from "./message-json.ts";
import { parseRequestJson, RequestJsonError } from "./request-json.ts";

/** Maximum duration of a timer. */
const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Serves `Call` by Connect's unary protocol, binary or plain JSON. Implemented without the library, because an invalid
 * request body must still get its response, because JSON must be parsed strictly, and because most clients use this
 * path.
 */
export async function serveUnaryCall(
  request: NodeRequest,
  response: NodeResponse,
  gathering: MessageContext,
): Promise<void> {
  try {
    checkProtocol(request);
    const timeoutMs = readTimeout(request);
    if (gathering.kernel.closing) throw new ConnectError("the kernel is shutting down", Code.Unavailable);
    const answer = await callFromBody(request, gathering, timeoutMs);
    const body = gathering.isJson
      ? Buffer.from(JSON.stringify(messageToJson(ToolResponseSchema, answer)))
      : encodeResponse(answer);
    // A response that its caller has not read counts as in flight.
    gathering.budget.acquireOverLimit(body.length);
    response.once("close", () => gathering.budget.release(body.length));
    send(request, response, 200, gathering.isJson ? "application/json" : "application/proto", body);
  } catch (fault) {
    const error = toConnectError(fault);
    send(request, response, codeToHttpStatus(error.code), "application/json", errorToJsonBytes(error, undefined));
  }
}

function checkProtocol(request: NodeRequest): void {
  const version = request.headers["connect-protocol-version"];
  if (version !== undefined && version !== "1") {
    throw new ConnectError("send connect-protocol-version 1, or none", Code.InvalidArgument);
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new ConnectError("send the body uncompressed", Code.Unimplemented);
  }
}

function readTimeout(request: NodeRequest): number | undefined {
  const header = request.headers["connect-timeout-ms"];
  const parsed = parseTimeout(typeof header === "string" ? header : null, Number.MAX_SAFE_INTEGER);
  if (parsed.error !== undefined) throw parsed.error;
  return parsed.timeoutMs === undefined ? undefined : Math.min(parsed.timeoutMs, MAX_TIMER_MS);
}

async function callFromBody(
  request: NodeRequest,
  gathering: MessageContext,
  timeoutMs: number | undefined,
): Promise<ToolResponse> {
  const { kernel, door } = gathering;
  let bytes: Uint8Array = new Uint8Array(0);
  try {
    const source = createBodySource(request);
    const message = await bufferMessage(source, readContentLength(request), gathering);
    try {
      if (await source.more({ timeoutMs: gathering.idleTimeoutMs })) {
        throw new KernelError("INVALID_REQUEST", "the body is longer than its content-length");
      }
      bytes = message.bytes;
      const call = gathering.isJson ? parseRequestJson(bytes) : bytes;
      const traceParent = request.headers["traceparent"]?.toString();
      // The kernel enforces the deadline: a timer here would start earlier, and end the call as CANCELLED.
      const deadline = timeoutMs === undefined ? {} : { timeoutMs };
      const answer = await kernel.call({ request: call, traceParent, door, signal: gathering.signal, ...deadline });
      return gathering.isJson ? answer : withRequestId(answer, bytes);
    } finally {
      message.release();
    }
  } catch (fault) {
    if (fault instanceof SessionDenied) return fault.response;
    if (!isKernelError(fault) || fault.code !== "INVALID_REQUEST") throw fault;
    kernel.refuse({ door, reason: fault instanceof RequestJsonError ? "invalid_json" : "malformed", bytes });
    const violations = fault.violations.length > 0 ? fault.violations : [malformed(fault.message)];
    return invalidRequest(fault.message, violations, fault instanceof RequestJsonError ? fault.requestId : "");
  }
}

function readContentLength(request: NodeRequest): number | undefined {
  const header = request.headers["content-length"];
  return header === undefined || !/^\d{1,15}$/.test(header) ? undefined : Number(header);
}

function malformed(message: string) {
  return { field: "", rule: "malformed", message };
}

function send(request: NodeRequest, response: NodeResponse, status: number, type: string, body: Uint8Array): void {
  if (response.writableEnded || response.destroyed) return;
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.setHeader("content-length", body.length);
  // Closes the connection instead of waiting for the unread rest of a refused body.
  if (!request.readableEnded && request.httpVersionMajor === 1) response.setHeader("connection", "close");
  response.end(body);
}

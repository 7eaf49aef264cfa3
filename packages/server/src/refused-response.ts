import {
  create,
  findCode,
  isErrorCode,
  type KernelError,
  MAX_ID_LEN,
  type ToolResponse,
  ToolResponseSchema,
  type Violation,
} from "@narthex/contracts";
import { parseRequestHead } from "./request-head.ts";

/** Creates the response to an invalid request. Its id is empty if none could be read. */
export function invalidRequest(message: string, violations: readonly Violation[], requestId = ""): ToolResponse {
  return create(ToolResponseSchema, {
    requestId,
    result: {
      case: "error",
      value: {
        errorCode: "INVALID_REQUEST",
        message,
        violations: violations.map((violation) => ({
          field: violation.field,
          rule: violation.rule,
          message: violation.message,
        })),
      },
    },
  });
}

/** Creates the response to a request whose token was refused, or could not be checked, before all of it was read. */
export function deniedSession(error: KernelError, requestId: string): ToolResponse {
  const { code, message } = error;
  if (isErrorCode(code)) {
    const retryable = findCode(code)?.retryable === true;
    return create(ToolResponseSchema, {
      requestId,
      result: { case: "error", value: { errorCode: code, message, retryable } },
    });
  }
  return create(ToolResponseSchema, {
    requestId,
    result: { case: "denied", value: { ruleId: "kernel:admit", rationaleCode: code, message } },
  });
}

/** Whether the kernel could not decode the request at all, as opposed to a decoded request that breaks rules. */
export function isUndecodable(response: ToolResponse): boolean {
  return (
    response.result.case === "error" &&
    response.result.value.errorCode === "INVALID_REQUEST" &&
    response.result.value.violations.some((violation) => violation.rule === "malformed")
  );
}

/**
 * Adds the request's id to the response of a request that was refused while being read, so that its caller can match
 * it. A request that cannot be decoded at all gets none.
 */
export function withRequestId(response: ToolResponse, request: Uint8Array): ToolResponse {
  if (response.requestId !== "" || response.result.case !== "error") return response;
  if (response.result.value.errorCode !== "INVALID_REQUEST" || isUndecodable(response)) return response;
  const { requestId } = parseRequestHead(request);
  if (requestId.length <= MAX_ID_LEN) response.requestId = requestId;
  return response;
}

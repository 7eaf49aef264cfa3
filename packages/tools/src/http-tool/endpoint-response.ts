import { isJsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { IncomingResponse } from "@narthex/kernel";
import { readWholeBody } from "../web/response-body.ts";
import { statusError } from "../web/status-error.ts";

/** Maximum size of an endpoint's response. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE_LENGTH = 300;

/** Reads an endpoint's response, which must be one JSON value. Throws an error with the matching code otherwise. */
export async function readEndpointResponse(answer: IncomingResponse, nowMs: number): Promise<JsonValue> {
  const bytes = await readWholeBody(answer.body, MAX_RESPONSE_BYTES);
  const refused = statusError(answer, nowMs);
  if (refused !== undefined) throw failure(answer.status, refused, readError(bytes));
  if (bytes.length === 0) throw new KernelError("INVALID_OUTPUT", "it answered nothing; one JSON value must be sent");
  try {
    return parseJson(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("INVALID_OUTPUT", `its answer is not one JSON value: ${reason}`, { cause });
  }
}

/** A 4xx response with an explanation means that the request failed; any other one means that the server failed. */
function failure(status: number, refused: KernelError, said: string | undefined): KernelError {
  if (said === undefined) return refused;
  const isItsWord = status >= 400 && status < 500 && status !== 429;
  const { retryAfterMs } = refused;
  return isItsWord
    ? new KernelError("EXECUTION_FAILED", said)
    : new KernelError(refused.code, `${refused.message}: ${said}`, { retryAfterMs });
}

/** The message of `{"error": {"code": ..., "message": ...}}`, on one line and truncated. */
function readError(bytes: Uint8Array): string | undefined {
  const error = parseBody(bytes);
  if (!isJsonObject(error) || typeof error["message"] !== "string") return undefined;
  const code = typeof error["code"] === "string" && error["code"] !== "" ? `${error["code"]}: ` : "";
  return `${code}${error["message"]}`
    .slice(0, 2 * MAX_MESSAGE_LENGTH)
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, MAX_MESSAGE_LENGTH);
}

function parseBody(bytes: Uint8Array): JsonValue | undefined {
  try {
    const answer = parseJson(bytes);
    return isJsonObject(answer) ? answer["error"] : undefined;
  } catch {
    return undefined;
  }
}

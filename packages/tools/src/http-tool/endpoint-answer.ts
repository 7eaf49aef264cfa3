import { isJsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import type { IncomingAnswer } from "@narthex/kernel";
import { gatherBody } from "../web/answer-body.ts";
import { refusedStatus } from "../web/refused-status.ts";

/** The most that an endpoint may answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_SAID = 300;

/** What an endpoint answered: one JSON value. Throws with the code of what went wrong instead. */
export async function endpointAnswer(answer: IncomingAnswer, nowMs: number): Promise<JsonValue> {
  const bytes = await gatherBody(answer.body, MAX_ANSWER_BYTES);
  const refused = refusedStatus(answer, nowMs);
  if (refused !== undefined) throw failure(answer.status, refused, readError(bytes));
  if (bytes.length === 0) throw new KernelError("INVALID_OUTPUT", "it answered nothing; one JSON value must be sent");
  try {
    return parseJson(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("INVALID_OUTPUT", `its answer is not one JSON value: ${reason}`, { cause });
  }
}

/** A server that says what was wrong with a request has failed it; any other is itself what failed. */
function failure(status: number, refused: KernelError, said: string | undefined): KernelError {
  if (said === undefined) return refused;
  const isItsWord = status >= 400 && status < 500 && status !== 429;
  const { retryAfterMs } = refused;
  return isItsWord
    ? new KernelError("EXECUTION_FAILED", said)
    : new KernelError(refused.code, `${refused.message}: ${said}`, { retryAfterMs });
}

/** The words of `{"error": {"code": ..., "message": ...}}`, on one line and cut. */
function readError(bytes: Uint8Array): string | undefined {
  const error = parsed(bytes);
  if (!isJsonObject(error) || typeof error["message"] !== "string") return undefined;
  const code = typeof error["code"] === "string" && error["code"] !== "" ? `${error["code"]}: ` : "";
  return `${code}${error["message"]}`
    .slice(0, 2 * MAX_SAID)
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, MAX_SAID);
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    const answer = parseJson(bytes);
    return isJsonObject(answer) ? answer["error"] : undefined;
  } catch {
    return undefined;
  }
}

import { findCode, type ToolError, type ToolResponse } from "@narthex/contracts";
import type { RecordedText } from "../model/agent-message.ts";
import { describeResponse } from "./describe-response.ts";

const SECRET = "secret";

/**
 * Error codes that the kernel itself returns for a call it has decided about. For some of them it stores no response.
 */
const SAID_BY_KERNEL: ReadonlySet<string> = new Set([
  "DUPLICATE_REQUEST_ID",
  "DEDUPE_CONFLICT",
  "OUTCOME_UNKNOWN",
  "APPROVAL_PENDING",
  "TIMEOUT",
  "CANCELLED",
  "SANDBOX_UNAVAILABLE",
  "STORE_UNAVAILABLE",
  "INTERNAL",
]);

/**
 * The text to record for a response; undefined if its own text may be recorded.
 *
 * SECURITY: a text labelled secret stays in the kernel only, and so does a tool's error message, because it may quote
 * anything. A tool can fail with any code, so for the kernel's own codes only their documented meaning is recorded.
 * INVARIANT: a text is left to the kernel only if the request id has a final response there. Every other text is
 * recorded: repeating a refused request would have it decided, and perhaps executed, long after the model was told that
 * it was refused.
 */
export function recordedText(
  response: ToolResponse,
  place: { readonly sessionId: string; readonly requestId: string },
): RecordedText | undefined {
  const { result } = response;
  if (result.case === "success") return result.value.labels.includes(SECRET) ? place : undefined;
  if (result.case !== "error" || isUndecided(result.value)) return undefined;
  const { errorCode, retryable } = result.value;
  if (SAID_BY_KERNEL.has(errorCode)) return { words: meaningOf(response, result.value) };
  return retryable
    ? { words: "The tool failed. What it said was not kept. Make the call again if you need it." }
    : place;
}

/** Without a decision no tool has run, so the text cannot come from a tool. */
function isUndecided({ proofHash, repeatedAnswer }: ToolError): boolean {
  return proofHash.length === 0 && !repeatedAnswer;
}

function meaningOf(response: ToolResponse, error: ToolError): string {
  const message = findCode(error.errorCode)?.meaning ?? "";
  return describeResponse({ ...response, result: { case: "error", value: { ...error, message, violations: [] } } })
    .text;
}

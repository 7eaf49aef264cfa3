import { findCode, type ToolError, type ToolResponse } from "@narthex/contracts";
import type { RecordedText } from "../model/agent-message.ts";
import { describeResponse } from "./describe-response.ts";

const SECRET = "secret";

/** What the kernel itself says of a call that it decided about. Of some of them it keeps no answer. */
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
 * What is written down of an answer; undefined where its text can be.
 *
 * SECURITY: what is labelled secret, and what a tool said about a failure, of which nobody knows what it quotes, lies with the
 * kernel and nowhere else. A tool can fail with any code, so of those that the kernel says only the meaning is kept.
 * INVARIANT: a text is left to the kernel only if that has a final answer under the id. All else is kept: to ask again for
 * what was refused would have it decided, and perhaps done, long after the model was told that it was not.
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

/** Without a decision no tool has run, so that none has said anything. */
function isUndecided({ proofHash, repeatedAnswer }: ToolError): boolean {
  return proofHash.length === 0 && !repeatedAnswer;
}

function meaningOf(response: ToolResponse, error: ToolError): string {
  const message = findCode(error.errorCode)?.meaning ?? "";
  return describeResponse({ ...response, result: { case: "error", value: { ...error, message, violations: [] } } })
    .text;
}

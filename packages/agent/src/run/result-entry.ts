import type { CallOutcome } from "../session/answer-call.ts";
import type { ResultEntry } from "./transcript.ts";

const SECRET = "secret";
/** Errors in which a tool speaks for itself. They come only after it was started. */
const WORDS_OF_TOOLS: ReadonlySet<string> = new Set(["EXECUTION_FAILED", "INVALID_OUTPUT", "UPSTREAM_ERROR"]);

/**
 * What a transcript keeps of an outcome.
 *
 * SECURITY: what is labelled secret, and what a tool said about a failure, of which nobody knows what it quotes, lies with the
 * kernel and nowhere else. The kernel gives it again under the same request id.
 * INVARIANT: a text is left out only if the kernel has a final answer under that id. All else is kept: to ask again for what
 * was refused would have it decided, and perhaps done, long after the model was told that it was not.
 */
export function toResultEntry(turn: number, at: number, outcome: CallOutcome): ResultEntry {
  const { status, requestId, cost } = outcome;
  const entry = { type: "result", turn, at, status, requestId, cost } as const;
  switch (secrecyOf(outcome)) {
    case "open":
      return { ...entry, text: outcome.text };
    case "kept by the kernel":
      return entry;
    case "kept by nobody":
      return { ...entry, text: "The tool failed. What it said was not kept. Make the call again if you need it." };
  }
}

function secrecyOf({ response }: CallOutcome): "open" | "kept by the kernel" | "kept by nobody" {
  const result = response?.result;
  if (result?.case === "success") return result.value.labels.includes(SECRET) ? "kept by the kernel" : "open";
  if (result?.case !== "error" || !WORDS_OF_TOOLS.has(result.value.errorCode)) return "open";
  return result.value.retryable ? "kept by nobody" : "kept by the kernel";
}

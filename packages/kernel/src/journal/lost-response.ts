import { errorMessage } from "./response-messages.ts";
import type { CallResponse } from "./call-response.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * Response to a call that happened and whose result is no longer available. The call never runs again because of the
 * lost result.
 */
export function createLostResponse(
  why: "settled" | "erased" | "withheld",
  recordIndex: number,
  about?: Partial<CallResponse>,
): CallResponse {
  const value = errorMessage({
    errorCode: why === "settled" ? "OUTCOME_UNKNOWN" : "CONTENT_NOT_FOUND",
    message: MESSAGES[why],
    retryable: false,
    retryAfterMs: 0,
    violations: [],
    proofHash: NO_BYTES,
    effectsPossible: true,
    approvalId: "",
    view: "",
  });
  return {
    tool: "",
    source: "",
    sideEffects: [],
    raw: undefined,
    normalised: undefined,
    proof: undefined,
    ...about,
    recordIndex,
    isFinal: true,
    result: { case: "error", value },
  };
}

const MESSAGES = {
  settled: "this call was settled as having happened; its result was lost, and it is not run again",
  erased: "this call has finished; its result was erased since, and it is not run again",
  withheld: "this call has finished; its result is stored by its hash only, and it is not run again",
} as const;

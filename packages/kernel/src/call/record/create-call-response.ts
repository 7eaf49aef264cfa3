import {
  canonicalJsonBytes,
  blake3,
  MAX_INLINE_RESULT_BYTES,
  type ToolDenied,
  type ToolError,
  type ToolSuccess,
} from "@narthex/contracts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import type { CallResponse, ResponseResult } from "../../journal/call-response.ts";
import { errorMessage, successMessage } from "../../journal/response-messages.ts";
import { copyBytes } from "../../result/copy-bytes.ts";
import type { IncomingCall, KeptCall } from "../call.ts";
import { Acknowledged, Denied, type Ending, Failed, Repeated } from "../ending.ts";

const NO_BYTES = new Uint8Array(0);

/** Creates the response that a caller receives once it is recorded. */
export function createCallResponse(
  incoming: IncomingCall,
  end: KeptCall | Ending,
  durationMs: number,
  spent: BudgetAmounts,
): CallResponse {
  const { trail } = incoming;
  const about = {
    recordIndex: undefined,
    tool: trail.tool?.id ?? "",
    source: trail.tool?.tool.source ?? "",
    sideEffects: [],
    raw: undefined,
    normalised: undefined,
    proof: trail.proofBytes,
  };
  if (end instanceof Repeated) {
    return { ...end.answer, result: markRepeated(end.answer.result), raw: undefined, normalised: undefined };
  }
  if (end instanceof Denied)
    return { ...about, isFinal: false, result: { case: "denied", value: denied(incoming, end) } };
  if (end instanceof Failed) {
    return { ...about, isFinal: isFinal(incoming, end), result: { case: "error", value: failed(incoming, end) } };
  }
  if (end instanceof Acknowledged)
    return { ...about, isFinal: true, result: { case: "success", value: acknowledged(end) } };
  const value = success(incoming, end, durationMs, spent);
  return {
    ...about,
    isFinal: true,
    result: { case: "success", value },
    sideEffects: end.effects,
    raw: end.raw,
    normalised: end.returned.size <= MAX_INLINE_RESULT_BYTES ? end.returned.head : undefined,
  };
}

function success(incoming: IncomingCall, kept: KeptCall, durationMs: number, spent: BudgetAmounts): ToolSuccess {
  const { returned: result } = kept;
  return successMessage({
    resultHash: result.digest,
    inlineResult: result.size <= MAX_INLINE_RESULT_BYTES ? result.head : NO_BYTES,
    budgetConsumed: spent.cost_units ?? 0,
    durationMs: Math.round(durationMs),
    proofHash: incoming.trail.proof?.digest ?? NO_BYTES,
    view: kept.view,
    labels: [...kept.labels],
    tool: kept.registered.id,
    resultType: kept.registered.tool.resultType,
    resultSize: result.size,
    cut: kept.cut,
  });
}

function acknowledged(end: Acknowledged): ToolSuccess {
  const bytes = canonicalJsonBytes(end.value);
  return successMessage({
    resultHash: blake3(bytes),
    inlineResult: bytes,
    budgetConsumed: 0,
    durationMs: 0,
    proofHash: NO_BYTES,
    view: new TextDecoder().decode(bytes),
    labels: [],
    tool: "",
    resultType: "object",
    resultSize: bytes.length,
    cut: false,
  });
}

function denied(incoming: IncomingCall, end: Denied): ToolDenied {
  return {
    $typeName: "narthex.v1.ToolDenied",
    ruleId: end.ruleId,
    rationaleCode: end.rationaleCode,
    message: end.message,
    proofHash: incoming.trail.proof?.digest ?? NO_BYTES,
  };
}

function failed(incoming: IncomingCall, end: Failed): ToolError {
  return errorMessage({
    errorCode: end.code,
    message: end.message,
    retryable: end.mayBeRetried(incoming.trail),
    retryAfterMs: end.retryAfterMs,
    violations: end.violations,
    proofHash: incoming.trail.proof?.digest ?? NO_BYTES,
    effectsPossible: end.mayHaveChanged(incoming.trail),
    approvalId: end.approvalId,
    view: "",
  });
}

/** Whether a failure is final: the tool was started, and the call may not be retried. */
function isFinal({ trail }: IncomingCall, end: Failed): boolean {
  return trail.callNumber > 0 && !end.mayBeRetried(trail);
}

/** Marks a response as repeated. Bytes are copied: every caller owns its response and cannot change that of another. */
function markRepeated(result: ResponseResult): ResponseResult {
  if (result.case === "success") {
    const inlineResult = copyBytes(result.value.inlineResult);
    return { case: "success", value: { ...result.value, inlineResult, repeatedAnswer: true } };
  }
  if (result.case === "error") return { case: "error", value: { ...result.value, repeatedAnswer: true } };
  return result;
}

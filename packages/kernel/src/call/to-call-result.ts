import { parseJson, type ToolResponse, type ToolSuccess } from "@narthex/contracts";
import type { CallFacts, CallResult } from "../call-result.ts";
import type { CallResponse } from "../journal/call-response.ts";
import type { Registry } from "../registry/registry.ts";
import type { ToolOutput } from "../tool/tool.ts";

/** Converts a response to a result for code in this process. */
export function toCallResult(
  call: { readonly requestId: string; readonly tool: string },
  response: ToolResponse,
  answer: CallResponse,
  registry: Registry,
): CallResult {
  const { result } = response;
  const success = result.case === "success" ? result.value : undefined;
  const facts: CallFacts = {
    requestId: call.requestId,
    response,
    raw: answer.raw,
    normalised: answer.normalised ?? inlineOf(success),
    hash: success?.resultHash,
    proof: answer.proof,
    sideEffects: answer.sideEffects,
    metadata: {
      tool: answer.tool === "" ? call.tool : answer.tool,
      source: answer.source,
      durationMs: Number(success?.durationMs ?? 0n),
      labels: success?.labels ?? [],
      cut: success?.cut ?? false,
    },
  };
  switch (result.case) {
    case "success": {
      const { view: message, repeatedAnswer: isRepeated, resultSize } = result.value;
      const value = answer.raw ?? decodeStoredResult(result.value, facts.normalised, registry);
      return { ...facts, status: "success", value, message, isRepeated, size: Number(resultSize) };
    }
    case "denied": {
      const { rationaleCode: code, ruleId: rule, message } = result.value;
      return { ...facts, status: "denied", code, rule, message };
    }
    case "error": {
      const { errorCode: code, message, violations, approvalId, retryAfterMs } = result.value;
      const { retryable: isRetryable, effectsPossible: hasPossibleEffects } = result.value;
      const flags = { isRetryable, retryAfterMs: Number(retryAfterMs), hasPossibleEffects, approvalId };
      return { ...facts, status: "error", code, message, violations, ...flags };
    }
    case undefined: {
      const flags = { isRetryable: false, retryAfterMs: 0, hasPossibleEffects: true, approvalId: "" };
      return {
        ...facts,
        status: "error",
        code: "INTERNAL",
        message: "the kernel gave no result",
        violations: [],
        ...flags,
      };
    }
  }
}

/** Returns the result's inline bytes: empty for an empty result, undefined for one too large to be sent inline. */
function inlineOf(success: ToolSuccess | undefined): Uint8Array | undefined {
  if (success === undefined || success.resultSize > BigInt(success.inlineResult.length)) return undefined;
  return success.inlineResult;
}

/**
 * Decodes the value of a repeated response from its bytes; undefined for a tool with its own result form, which cannot
 * be decoded.
 */
function decodeStoredResult(
  { resultType, tool }: ToolSuccess,
  bytes: Uint8Array | undefined,
  registry: Registry,
): ToolOutput | undefined {
  if (bytes === undefined) return undefined;
  const [name = "", version = ""] = tool.split("@", 2);
  // A response without a tool is the kernel's own.
  if (tool !== "" && (registry.resolve(name, version)?.tool.normalise ?? "custom") === "custom") return undefined;
  if (resultType === "binary" || resultType === "stream") return bytes;
  return resultType === "string" ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : parseJson(bytes);
}

import { canonicalJsonBytes, createId, JsonValueError, type ToolRequest, type ToolResponse } from "@narthex/contracts";
import type { CallResult, InProcessCall, WireCall } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { errorMessage } from "../journal/response-messages.ts";
import type { CallFrame } from "./call.ts";
import { CallTrail } from "./call-trail.ts";
import { runCall } from "./run-call.ts";

/** A request from a door. Never rejects. */
export async function callOverWire(call: WireCall, kernel: KernelParts): Promise<ToolResponse> {
  return (await run(frameOf(call, kernel), kernel)).response;
}

/** A request from code in this process: the same bytes, the same path, and a fuller answer. */
export async function callInProcess(call: InProcessCall, kernel: KernelParts): Promise<CallResult> {
  const requestId = call.requestId ?? createId("req", (length) => kernel.random.bytes(length));
  const request = requestOf(call, requestId);
  const { signal, timeoutMs, onChunk } = call;
  const frame = frameOf({ request, door: "in_process", ...given({ signal, timeoutMs, onChunk }) }, kernel);
  const { response, answer } = await run(frame, kernel);
  const { result } = response;
  const success = result.case === "success" ? result.value : undefined;
  return {
    requestId,
    response,
    status: result.case === "success" || result.case === "denied" ? result.case : "error",
    raw: answer?.raw,
    normalised: answer?.normalised ?? (success && success.inlineResult.length > 0 ? success.inlineResult : undefined),
    hash: success?.resultHash,
    proof: answer?.proof,
    sideEffects: answer?.sideEffects ?? [],
    metadata: {
      tool: answer?.tool ?? call.tool,
      source: answer?.source ?? "",
      durationMs: Number(success?.durationMs ?? 0n),
      labels: success?.labels ?? [],
      cut: success?.cut ?? false,
    },
  };
}

function frameOf(call: WireCall, kernel: KernelParts): CallFrame {
  return {
    request: call.request,
    door: call.door,
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    onChunk: call.onChunk,
    trail: new CallTrail(kernel.clock.monotonicMs()),
  };
}

async function run(frame: CallFrame, kernel: KernelParts): Promise<Partial<Awaited<ReturnType<typeof runCall>>> & { response: ToolResponse }> {
  try {
    return await runCall(frame, kernel);
  } catch (fault) {
    kernel.log("error", "a call could not be answered", { cause: String(fault) });
    return { response: internalError(frame) };
  }
}

function requestOf(call: InProcessCall, requestId: string): ToolRequest {
  return {
    $typeName: "narthex.v1.ToolRequest",
    requestId,
    sessionToken: call.token,
    dedupeKey: call.dedupeKey ?? "",
    tool: {
      case: "call",
      value: { $typeName: "narthex.v1.ToolCall", name: call.tool, version: call.version ?? "", input: inputOf(call) },
    },
  };
}

/** What is no JSON is sent as it would be by a careless caller, and refused by `check` with the reason. */
function inputOf(call: InProcessCall): Uint8Array {
  try {
    return canonicalJsonBytes(call.input);
  } catch (fault) {
    if (!(fault instanceof JsonValueError)) throw fault;
    return new TextEncoder().encode("undefined");
  }
}

function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function internalError(frame: CallFrame): ToolResponse {
  const value = errorMessage({
    errorCode: "INTERNAL",
    message: "the kernel could not answer this call; its log says why",
    retryable: false,
    retryAfterMs: 0,
    violations: [],
    proofHash: new Uint8Array(0),
    effectsPossible: frame.trail.effectsPossible,
    approvalId: "",
  });
  return { $typeName: "narthex.v1.ToolResponse", requestId: frame.trail.requestId, result: { case: "error", value } };
}

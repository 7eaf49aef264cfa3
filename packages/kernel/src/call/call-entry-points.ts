import {
  canonicalJson,
  createId,
  JsonValueError,
  type ToolRequest,
  type ToolResponse,
  sharedUtf8,
} from "@narthex/contracts";
import type { CallResult } from "../call-result.ts";
import type { InProcessCall, WireCall } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { IncomingCall } from "./call.ts";
import { CallTrail } from "./call-trail.ts";
import { toCallResult } from "./to-call-result.ts";
import { runCall } from "./run-call.ts";

/** Handles a request from a door. Never rejects. */
export async function callOverWire(call: WireCall, kernel: KernelParts): Promise<ToolResponse> {
  const { request, door, isOwned = false } = call;
  return (await runCall(createIncomingCall(call, { request, door, isOwned }, kernel), kernel)).response;
}

/**
 * Handles a request from code in this process: the same bytes, the same path, and a more detailed result. Never
 * rejects.
 */
export async function callInProcess(call: InProcessCall, kernel: KernelParts): Promise<CallResult> {
  const requestId = call.requestId ?? createId("req", (length) => kernel.random.bytes(length));
  const input = encodeInput(call);
  const inputFault = input instanceof JsonValueError ? input : undefined;
  const bytes = input instanceof JsonValueError ? NOT_JSON : input;
  const request = toToolRequest(call, requestId, bytes);
  const { faults } = call;
  const made = { request, isOwned: true, isCanonical: true, inputFault, faults, door: "in_process" };
  const { response, answer } = await runCall(createIncomingCall(call, made, kernel), kernel);
  return toCallResult({ requestId, tool: call.tool }, response, answer, kernel.registry);
}

/** Placeholder for input that cannot be encoded. */
const NOT_JSON = sharedUtf8("undefined");

type IncomingFields = Pick<IncomingCall, "request" | "door" | "isOwned"> &
  Partial<Pick<IncomingCall, "isCanonical" | "inputFault" | "faults">>;

function createIncomingCall(
  { signal, timeoutMs, onChunk, traceParent }: Pick<WireCall, "signal" | "timeoutMs" | "onChunk" | "traceParent">,
  { request, door, isOwned, isCanonical = false, inputFault, faults }: IncomingFields,
  kernel: KernelParts,
): IncomingCall {
  const nowMs = kernel.clock.monotonicMs();
  // A time-out that is not a positive number has already passed.
  const givenMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs > 0 ? timeoutMs : 0;
  return {
    request,
    isOwned,
    isCanonical,
    door,
    signal,
    deadlineMs: nowMs + givenMs,
    inputFault,
    faults,
    onChunk,
    traceParent,
    trail: new CallTrail(nowMs),
  };
}

function toToolRequest(call: InProcessCall, requestId: string, input: Uint8Array): ToolRequest {
  return {
    $typeName: "narthex.v1.ToolRequest",
    requestId,
    sessionToken: call.token,
    dedupeKey: call.dedupeKey ?? "",
    tool: {
      case: "call",
      value: { $typeName: "narthex.v1.ToolCall", name: call.tool, version: call.version ?? "", input },
    },
  };
}

/** Encodes the input, which takes a snapshot. `check` rejects input that is not JSON or cannot be read. */
function encodeInput(call: InProcessCall): Uint8Array | JsonValueError {
  try {
    return sharedUtf8(canonicalJson(call.input));
  } catch (fault) {
    if (fault instanceof JsonValueError) return fault;
    return new JsonValueError("malformed", "", "the input cannot be read");
  }
}

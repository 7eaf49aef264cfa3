import {
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../gen/narthex/v1/tool_pb.js";
import { compileEncoder } from "../compile-encoder.ts";
import { DecodeError } from "./decode-error.ts";
import { decodeStrict } from "./decode-strict.ts";
import { planMessage } from "./message-plan.ts";
import { fromBinary } from "./protobuf.ts";

const REQUEST_PLAN = planMessage(ToolRequestSchema);
const encodeRequest = compileEncoder<ToolRequest>(ToolRequestSchema);
const encodeToolResponse = compileEncoder<ToolResponse>(ToolResponseSchema);

/** Encodes a request canonically: fields in order of number, defaults omitted. */
export function encode(request: ToolRequest): Uint8Array {
  return encodeRequest(request);
}

/**
 * Decodes a request strictly. Throws a DecodeError that names every problem. Its bytes fields are views of `bytes`:
 * copy them to keep them beyond the lifetime of the buffer.
 */
export function decode(bytes: Uint8Array): ToolRequest {
  return decodeStrict(REQUEST_PLAN, bytes) as ToolRequest;
}

export function encodeResponse(response: ToolResponse): Uint8Array {
  return encodeToolResponse(response);
}

/** Decodes a response. Keeps unknown fields, so that older clients can read responses of newer kernels. */
export function decodeResponse(bytes: Uint8Array): ToolResponse {
  try {
    return fromBinary(ToolResponseSchema, bytes);
  } catch {
    throw new DecodeError([{ field: "", rule: "malformed", message: "the bytes are not a ToolResponse" }]);
  }
}

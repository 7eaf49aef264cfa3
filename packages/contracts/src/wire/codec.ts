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

/** The request's one encoding: fields in order of number, defaults left out. */
export function encode(request: ToolRequest): Uint8Array {
  return encodeRequest(request);
}

/**
 * Reads a request strictly; throws a DecodeError that names every problem. Its bytes fields are views of `bytes`:
 * whoever keeps one beyond the buffer's life copies it.
 */
export function decode(bytes: Uint8Array): ToolRequest {
  return decodeStrict(REQUEST_PLAN, bytes) as ToolRequest;
}

export function encodeResponse(response: ToolResponse): Uint8Array {
  return encodeToolResponse(response);
}

/** Reads an answer. Fields this version does not know are kept aside, so that older callers read newer kernels. */
export function decodeResponse(bytes: Uint8Array): ToolResponse {
  try {
    return fromBinary(ToolResponseSchema, bytes);
  } catch {
    throw new DecodeError([{ field: "", rule: "malformed", message: "the bytes are not a ToolResponse" }]);
  }
}

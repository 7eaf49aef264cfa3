import type { ToolResponse } from "@narthex/contracts";
import type { CallResponse } from "../../journal/call-response.ts";

/** Creates the one response, with the request's id. */
export function reply(requestId: string, answer: CallResponse): ToolResponse {
  return { $typeName: "narthex.v1.ToolResponse", requestId, result: answer.result };
}

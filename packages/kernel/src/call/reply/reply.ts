import type { ToolResponse } from "@narthex/contracts";
import type { CallAnswer } from "../../journal/call-answer.ts";

/** Exactly one response, carrying the request's id. */
export function reply(requestId: string, answer: CallAnswer): ToolResponse {
  return { $typeName: "narthex.v1.ToolResponse", requestId, result: answer.result };
}

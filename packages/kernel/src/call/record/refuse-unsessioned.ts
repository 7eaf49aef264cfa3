import { toBinary, ToolRequestSchema } from "@narthex/contracts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import type { CallFrame, KeptCall } from "../call.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { answerOf } from "./answer-of.ts";

/** Nobody's request: it is counted with others of its kind, and its answer waits for no disk. */
export function refuseUnsessioned(frame: CallFrame, end: KeptCall | Ending, kernel: KernelParts): CallAnswer {
  const reason = end instanceof Denied ? end.rationaleCode : end instanceof Failed ? end.code : "INTERNAL";
  const bytes = frame.request instanceof Uint8Array ? frame.request : toBinary(ToolRequestSchema, withoutToken(frame.request));
  kernel.refusals.count({ door: frame.door, reason, bytes });
  const refused = end instanceof Denied || end instanceof Failed ? end : new Failed("INTERNAL", "no session");
  return answerOf(frame, refused, 0, {});
}

function withoutToken<T extends { readonly sessionToken: string }>(request: T): T {
  return { ...request, sessionToken: "" };
}

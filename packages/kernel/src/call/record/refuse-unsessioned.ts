import { encode } from "@narthex/contracts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import type { CallFrame, KeptCall } from "../call.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { answerOf } from "./answer-of.ts";

/** Nobody's request: it is counted with others of its kind, and its answer waits for no disk. */
export function refuseUnsessioned(frame: CallFrame, end: KeptCall | Ending, kernel: KernelParts): CallAnswer {
  const refused = end instanceof Denied || end instanceof Failed ? end : new Failed("INTERNAL", "no session");
  const reason = refused instanceof Denied ? refused.rationaleCode : refused.code;
  kernel.refusals.count({ door: frame.door, reason }, () => bytesOf(frame.request));
  return answerOf(frame, refused, 0, {});
}

function bytesOf(request: CallFrame["request"]): Uint8Array {
  if (request instanceof Uint8Array) return request;
  try {
    return encode({ ...request, sessionToken: "" });
  } catch {
    // Not even a message: nothing that could be hashed.
    return new Uint8Array(0);
  }
}

import { encode } from "@narthex/contracts";
import type { CallResponse } from "../../journal/call-response.ts";
import type { IncomingCall, KeptCall } from "../call.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { createCallResponse } from "./create-call-response.ts";

/**
 * Refuses a request that belongs to no session. It is counted with others of its kind, and its response waits for no
 * disk write.
 */
export function refuseWithoutSession(
  incoming: IncomingCall,
  end: KeptCall | Ending,
  kernel: KernelParts,
): CallResponse {
  const refused = end instanceof Denied || end instanceof Failed ? end : new Failed("INTERNAL", "no session");
  const reason = refused instanceof Denied ? refused.rationaleCode : refused.code;
  kernel.refusals.count({ door: incoming.door, reason }, () => bytesOf(incoming.request));
  return createCallResponse(incoming, refused, 0, {});
}

function bytesOf(request: IncomingCall["request"]): Uint8Array {
  if (request instanceof Uint8Array) return request;
  try {
    return encode({ ...request, sessionToken: "" });
  } catch {
    // Not a message at all: there is nothing to hash.
    return new Uint8Array(0);
  }
}

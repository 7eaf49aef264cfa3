import {
  decode,
  isKernelError,
  isRationaleCode,
  type ToolRequest,
  type Violation,
  validate,
} from "@narthex/contracts";
import type { LiveSession } from "../../session/live-session.ts";
import { requireOpen } from "../../session/require-open.ts";
import type { AdmittedCall, CallFrame } from "../call.ts";
import { Acknowledged, Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Decodes and validates the request, every rule at once, and proves that it comes from an open session. */
export async function admit(frame: CallFrame, kernel: KernelParts): Promise<AdmittedCall | Ending> {
  const request = readRequest(frame.request);
  if (request instanceof Failed) return request;
  const violations = validate(request);
  const { trail } = frame;
  // A broken id could not be stored under its own name.
  trail.requestId = violations.some((violation) => violation.field === "request_id") ? "" : request.requestId;

  const session = await authenticate(request.sessionToken, kernel);
  if (!(session instanceof Denied)) trail.live = session;
  if (violations.length > 0) return invalidRequest(violations);
  if (session instanceof Denied) return session;

  if (kernel.closing()) {
    return new Failed("STORE_UNAVAILABLE", "the kernel is shutting down; try again when it is back", { retryable: true });
  }
  if (frame.signal?.aborted === true || (frame.timeoutMs !== undefined && frame.timeoutMs <= 0)) {
    return new Failed("CANCELLED", "the caller's deadline had passed before the call began; nothing was done");
  }
  const variant = request.tool;
  if (variant.case === undefined) return new Failed("INTERNAL", "a validated request names no tool");
  if (variant.case === "cancel") return cancel(session, variant.value.requestId, frame);
  trail.dedupeKey = request.dedupeKey;
  return { frame, trail, live: session, requestId: request.requestId, dedupeKey: request.dedupeKey, variant };
}

function readRequest(request: Uint8Array | ToolRequest): ToolRequest | Failed {
  if (!(request instanceof Uint8Array)) return request;
  try {
    return decode(request);
  } catch (fault) {
    if (isKernelError(fault)) return invalidRequest(fault.violations);
    throw fault;
  }
}

function invalidRequest(violations: readonly Violation[]): Failed {
  const first = violations[0];
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const message = first === undefined ? "the request is malformed" : `${first.field}: ${first.message}${more}`;
  return new Failed("INVALID_REQUEST", message, { violations });
}

async function authenticate(token: string, kernel: KernelParts): Promise<LiveSession | Denied> {
  try {
    return requireOpen(await kernel.sessions.authenticate(token), kernel.ledger.nowMs());
  } catch (fault) {
    if (isKernelError(fault) && isRationaleCode(fault.code)) return new Denied(fault.code, "kernel:admit", fault.message);
    throw fault;
  }
}

function cancel(session: LiveSession, requestId: string, frame: CallFrame): Acknowledged {
  const running = session.running.get(requestId);
  running?.cancel("cancelled");
  frame.trail.add({ case: "callCancelled", value: { requestId, found: running !== undefined } });
  return new Acknowledged({ found: running !== undefined, request_id: requestId });
}

import { decode, encode, isKernelError, type ToolRequest, type Violation, validate } from "@narthex/contracts";
import type { LiveSession } from "../../session/live-session.ts";
import type { AdmittedCall, IncomingCall } from "../call.ts";
import { checkSession } from "../check-session.ts";
import { Acknowledged, Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/**
 * Decodes and validates the request, reporting all violations at once, and verifies that it comes from an open session.
 */
export function admit(
  incoming: IncomingCall,
  kernel: KernelParts,
): AdmittedCall | Ending | Promise<AdmittedCall | Ending> {
  const read = readRequest(incoming);
  if (read instanceof Failed) return read;
  const { request, violations } = read;
  const { trail } = incoming;
  trail.replyId = request.requestId;
  // An invalid id could not be stored under its own name.
  const isBroken = violations.some((violation) => violation.field === "request_id");
  trail.requestId = isBroken ? "" : kernel.secrets.recordedId(request.requestId);
  // No call could be recorded, so this one goes no further.
  const { failure } = kernel.ledger;
  if (failure !== undefined) return new Failed("STORE_UNAVAILABLE", failure.message);

  // Most sessions are in memory, and need no wait.
  const found = kernel.sessions.authenticate(request.sessionToken);
  if (found instanceof Promise) return found.then((live) => admitFrom(live, incoming, read, kernel));
  return admitFrom(found, incoming, read, kernel);
}

function admitFrom(
  live: LiveSession | undefined,
  incoming: IncomingCall,
  { request, violations }: ReadRequest,
  kernel: KernelParts,
): AdmittedCall | Ending {
  const { trail } = incoming;
  const session = checkSession(live, kernel);
  if (!(session instanceof Denied)) {
    trail.live = session;
    session.enter();
  }
  if (violations.length > 0) return invalidRequest(violations);
  if (session instanceof Denied) return session;

  if (kernel.closing())
    return new Failed("STORE_UNAVAILABLE", "the kernel is shutting down; try again when it is back");
  if (incoming.signal?.aborted === true) {
    return new Failed("CANCELLED", "the caller left before the call began; nothing was done");
  }
  if (incoming.deadlineMs <= trail.startedAtMs) return Failed.pastDeadline();
  const variant = request.tool;
  if (variant.case === undefined) return new Failed("INTERNAL", "a validated request names no tool");
  if (variant.case === "cancel") return cancel(session, variant.value.requestId, incoming, kernel);
  const { requestId } = trail;
  const dedupeKey = kernel.secrets.recordedId(request.dedupeKey);
  trail.dedupeKey = dedupeKey;
  return { incoming, trail, live: session, requestId, dedupeKey, variant };
}

interface ReadRequest {
  readonly request: ToolRequest;
  readonly violations: readonly Violation[];
}

/**
 * Decodes and validates the request.
 *
 * SECURITY: the validated message is the one that is used. A message belongs to its caller, who can change it while the
 * call waits, so the kernel continues with a copy; no door writes to encoded bytes before they are answered.
 */
function readRequest({ request, isOwned, faults }: IncomingCall): ReadRequest | Failed {
  try {
    if (faults !== undefined && !(request instanceof Uint8Array)) {
      return { request, violations: [...validate(request), ...faults] };
    }
    if (request instanceof Uint8Array) {
      const decoded = decode(request);
      return { request: decoded, violations: validate(decoded) };
    }
    const violations = validate(request);
    return { request: isOwned || violations.length > 0 ? request : decode(encode(request)), violations };
  } catch (fault) {
    if (isKernelError(fault)) return invalidRequest(fault.violations);
    // Not a message at all: a field has the wrong type.
    if (fault instanceof TypeError || fault instanceof RangeError) return invalidRequest([]);
    throw fault;
  }
}

function invalidRequest(violations: readonly Violation[]): Failed {
  const first = violations[0];
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const message = first === undefined ? "the request is malformed" : `${first.field}: ${first.message}${more}`;
  return new Failed("INVALID_REQUEST", message, { violations });
}

function cancel(session: LiveSession, asked: string, incoming: IncomingCall, kernel: KernelParts): Acknowledged {
  const requestId = kernel.secrets.recordedId(asked);
  const running = session.running.get(requestId, kernel.usedRequestIds.fingerprint(requestId));
  running?.cancel("cancelled");
  incoming.trail.add({ case: "callCancelled", value: { requestId, found: running !== undefined } });
  return new Acknowledged({ found: running !== undefined, request_id: asked });
}

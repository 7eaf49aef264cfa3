import { equalBytes, toHex } from "@narthex/contracts";
import { RunningCall } from "../../journal/running-call.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { type Ending, Failed, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/**
 * Repeats: by request id, by dedupe key, and of calls whose outcome nobody knows. Comes after decide, so every repeat
 * was authorised anew, and before endorse, so no person is asked twice.
 */
export async function dedupe(call: PermittedCall, kernel: KernelParts): Promise<PermittedCall | Ending> {
  const { live, requestId, dedupeKey, trail } = call;
  const sameId = live.running.get(requestId);
  if (sameId !== undefined) return join(call, sameId, "request_id");
  const sameKey = dedupeKey === "" ? undefined : live.runningByKey.get(dedupeKey);
  if (sameKey !== undefined) return join(call, sameKey, "dedupe_key");

  // INVARIANT: nothing is awaited between the look above and this claim, so equal requests cannot both be first.
  const running = new RunningCall(requestId, call.requestDigest, dedupeKey);
  live.running.set(requestId, running);
  if (dedupeKey !== "") live.runningByKey.set(dedupeKey, running);
  trail.running = running;
  trail.waiter = running.join(call.frame.signal);

  const unknown = live.unsettled.get(requestId) ?? live.findUnsettledEqual(call.registered.id, call.inputDigest);
  if (unknown !== undefined) return outcomeUnknown(call, unknown.requestId);
  return (await repeatOfId(call, kernel)) ?? (await repeatOfKey(call, kernel)) ?? remember(call, kernel);
}

async function join(
  call: PermittedCall,
  running: RunningCall,
  matchedBy: "request_id" | "dedupe_key",
): Promise<Ending> {
  const conflict = differs(call, running.digest, running.dedupeKey, matchedBy);
  if (conflict !== undefined) return conflict;
  const waiter = running.join(call.frame.signal);
  const answer = await Promise.race([running.answer, waiter.left]);
  waiter.leave();
  if (answer === undefined) return new Failed("CANCELLED", "the caller left before the joined call was answered");
  return new Repeated(answer, matchedBy, running.requestId);
}

async function repeatOfId(call: PermittedCall, kernel: KernelParts): Promise<Ending | undefined> {
  const { live, requestId } = call;
  if (!kernel.requests.mayHave(live.id, requestId)) return undefined;
  const earlier = await kernel.answers.find(live.id, requestId);
  if (earlier === undefined) return undefined;
  const conflict = differs(call, earlier.requestDigest, undefined, "request_id");
  if (conflict !== undefined) return conflict;
  // A denial or a passing error is no outcome worth keeping: the call runs anew under the same id.
  return earlier.answer?.final === true ? new Repeated(earlier.answer, "request_id", requestId) : undefined;
}

async function repeatOfKey(call: PermittedCall, kernel: KernelParts): Promise<Ending | undefined> {
  if (call.dedupeKey === "") return undefined;
  const kept = call.live.answersByKey.get(call.dedupeKey);
  if (kept === undefined) return undefined;
  if (kept.requestDigest !== toHex(call.requestDigest)) return dedupeConflict(call);
  const earlier = await kernel.answers.find(call.live.id, kept.requestId);
  return earlier?.answer === undefined ? undefined : new Repeated(earlier.answer, "dedupe_key", kept.requestId);
}

function remember(call: PermittedCall, kernel: KernelParts): PermittedCall {
  kernel.requests.add(call.live.id, call.requestId);
  return call;
}

function differs(
  call: PermittedCall,
  digest: Uint8Array,
  dedupeKey: string | undefined,
  matchedBy: "request_id" | "dedupe_key",
): Failed | undefined {
  const same = equalBytes(digest, call.requestDigest);
  if (matchedBy === "dedupe_key") return same ? undefined : dedupeConflict(call);
  if (same && (dedupeKey === undefined || dedupeKey === call.dedupeKey)) return undefined;
  const message = `request id \`${call.requestId.slice(0, 80)}\` was used for another request; give every request its own id`;
  return new Failed("DUPLICATE_REQUEST_ID", message);
}

function dedupeConflict(call: PermittedCall): Failed {
  const message = `dedupe key \`${call.dedupeKey.slice(0, 80)}\` belongs to another request; use a key per request`;
  return new Failed("DEDUPE_CONFLICT", message);
}

function outcomeUnknown(call: PermittedCall, requestId: string): Failed {
  const message =
    `request \`${requestId.slice(0, 80)}\` of \`${call.registered.tool.name}\` may have had its effect before a crash; ` +
    "look, then settle it with `narthex journal settle`";
  return new Failed("OUTCOME_UNKNOWN", message);
}

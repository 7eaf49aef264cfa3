import { equalBytes, fromHex, toHex } from "@narthex/contracts";
import type { ArchivedCall } from "../../journal/response-archive.ts";
import type { Fingerprint } from "../../journal/used-request-ids.ts";
import { createLostResponse } from "../../journal/lost-response.ts";
import { RunningCall } from "../../journal/running-call.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { type Ending, Failed, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { joinRunning } from "./join-running.ts";
import { dedupeConflict, duplicateId } from "./repeat-conflicts.ts";

/**
 * Finds repeats: by request id, by dedupe key, and of calls whose outcome is unknown. Runs after decide, so every
 * repeat is authorised again, and before endorse, so no user is asked twice.
 */
export function dedupe(
  call: PermittedCall,
  kernel: KernelParts,
): PermittedCall | Ending | Promise<PermittedCall | Ending> {
  const { live, requestId, dedupeKey, trail } = call;
  trail.fingerprint ??= kernel.usedRequestIds.fingerprint(requestId);
  const { fingerprint } = trail;
  const sameId = live.running.get(requestId, fingerprint);
  const sameKey = dedupeKey === "" ? undefined : live.runningByKey.get(dedupeKey);
  const running = sameId ?? sameKey;
  if (running !== undefined) {
    if (running.isAbandoned) return running.response.then(() => dedupe(call, kernel));
    return joinRunning(call, running, sameId === undefined ? "dedupe_key" : "request_id", kernel);
  }

  // INVARIANT: no `await` between the lookup above and this claim, so equal requests cannot both be first.
  const claim = new RunningCall(requestId, call.requestDigest, dedupeKey, fingerprint);
  live.running.add(claim);
  if (dedupeKey !== "") live.runningByKey.set(dedupeKey, claim);
  trail.running = claim;
  trail.waiter = claim.join(call.incoming.signal);

  const unknown = findUnknown(call);
  if (unknown !== undefined) return unknown;
  if (dedupeKey === "" && !kernel.usedRequestIds.mayHave(live.id, fingerprint)) return call;
  return findRepeated(call, fingerprint, kernel);
}

async function findRepeated(
  call: PermittedCall,
  fingerprint: Fingerprint,
  kernel: KernelParts,
): Promise<PermittedCall | Ending> {
  const repeated = kernel.usedRequestIds.mayHave(call.live.id, fingerprint)
    ? await repeatOfId(call, kernel)
    : undefined;
  if (repeated !== undefined) return repeated;
  return (call.dedupeKey === "" ? undefined : await repeatOfKey(call, kernel)) ?? call;
}

/** Finds an earlier call with the same id, or an equal one, that may have had its effect before a crash. */
function findUnknown(call: PermittedCall): Failed | undefined {
  const { live, registered } = call;
  if (live.unsettled.size === 0) return undefined;
  const equal = live.findUnsettledEqual(registered.id, call.inputDigest);
  if (equal !== undefined) return outcomeUnknown(call, equal.requestId);
  return live.unsettled.has(call.requestId) ? duplicateId(call) : undefined;
}

async function repeatOfId(call: PermittedCall, kernel: KernelParts): Promise<Ending | undefined> {
  const { requestId } = call;
  const earlier = await findEarlier(call, requestId, kernel);
  if (earlier === undefined) return undefined;
  const isErased = earlier.requestDigest.length === 0;
  if (!isErased && !equalBytes(earlier.requestDigest, call.requestDigest)) return duplicateId(call);
  // A transient error is not worth keeping: the call runs again under the same id.
  return earlier.response.isFinal ? new Repeated(earlier.response, "request_id", requestId) : undefined;
}

async function repeatOfKey(call: PermittedCall, kernel: KernelParts): Promise<Ending | undefined> {
  const kept = call.live.dedupeEntries.get(call.dedupeKey);
  if (kept === undefined) return undefined;
  if (kept.requestDigest !== "" && kept.requestDigest !== toHex(call.requestDigest)) return dedupeConflict(call);
  const earlier = await findEarlier(call, kept.requestId, kernel);
  // INVARIANT: only final outcomes are kept under a key, so a call without a stored response has finished all the same.
  const answer = earlier?.response ?? createLostResponse("erased", 0);
  return new Repeated(answer, "dedupe_key", kept.requestId);
}

async function findEarlier(
  call: PermittedCall,
  requestId: string,
  kernel: KernelParts,
): Promise<ArchivedCall | undefined> {
  const settled = call.live.settled.get(requestId);
  if (settled === undefined) return kernel.responses.find(call.live.id, requestId);
  const requestDigest = fromHex(settled.requestDigest) ?? new Uint8Array(0);
  return { requestDigest, response: createLostResponse("settled", settled.recordIndex) };
}

function outcomeUnknown(call: PermittedCall, requestId: string): Failed {
  const message =
    `request \`${requestId.slice(0, 80)}\` of \`${call.registered.tool.name}\` may have had its effect before a crash; ` +
    "look, then settle it with `narthex journal settle`";
  return new Failed("OUTCOME_UNKNOWN", message, { isOutcomeLost: true });
}

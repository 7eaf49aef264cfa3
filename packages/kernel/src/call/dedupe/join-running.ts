import { equalBytes } from "@narthex/contracts";
import type { CallResponse } from "../../journal/call-response.ts";
import type { RunningCall } from "../../journal/running-call.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { type Ending, Failed, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { dedupeConflict, duplicateId } from "./repeat-conflicts.ts";

/** Waits for the response of a running call, for as long as the caller itself does. */
export async function joinRunning(
  call: PermittedCall,
  running: RunningCall,
  matchedBy: "request_id" | "dedupe_key",
  kernel: KernelParts,
): Promise<Ending> {
  const isSame = equalBytes(running.digest, call.requestDigest);
  if (matchedBy === "dedupe_key" && !isSame) return dedupeConflict(call);
  if (matchedBy === "request_id" && !(isSame && running.dedupeKey === call.dedupeKey)) return duplicateId(call);
  const answer = await waitFor(running, call, kernel);
  return answer instanceof Failed ? answer : new Repeated(answer, matchedBy, running.requestId);
}

async function waitFor(running: RunningCall, call: PermittedCall, kernel: KernelParts): Promise<CallResponse | Failed> {
  const { signal, deadlineMs } = call.incoming;
  let timer: NodeJS.Timeout | undefined;
  const left = Promise.withResolvers<Failed>();
  const waiter = running.join(signal, () =>
    left.resolve(new Failed("CANCELLED", "the caller left before the joined call was answered")),
  );
  if (deadlineMs !== Number.POSITIVE_INFINITY) {
    const late = new Failed("TIMEOUT", "the joined call was not answered before the caller's deadline");
    timer = setTimeout(() => left.resolve(late), Math.max(0, deadlineMs - kernel.clock.monotonicMs()));
  }
  try {
    return await Promise.race([running.response, left.promise]);
  } finally {
    clearTimeout(timer);
    waiter.leave();
  }
}

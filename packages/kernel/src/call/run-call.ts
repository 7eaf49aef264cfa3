import type { ToolResponse } from "@narthex/contracts";
import type { CallAnswer } from "../journal/call-answer.ts";
import type { Stage } from "../ports.ts";
import { admit } from "./admit/admit.ts";
import { bind } from "./bind/bind.ts";
import type { CallFrame, KeptCall } from "./call.ts";
import { check } from "./check/check.ts";
import { decide } from "./decide/decide.ts";
import { dedupe } from "./dedupe/dedupe.ts";
import { Denied, type Ending, Failed, isEnding } from "./ending.ts";
import { AGAIN, endorse } from "./endorse/endorse.ts";
import { grant } from "./grant/grant.ts";
import { invoke } from "./invoke/invoke.ts";
import { keep } from "./keep/keep.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { record } from "./record/record.ts";
import { releaseCall } from "./release-call.ts";
import { reply } from "./reply/reply.ts";

/** The path of one call. Every request comes out of here with exactly one answer. */
export async function runCall(frame: CallFrame, kernel: KernelParts): Promise<{ response: ToolResponse; answer: CallAnswer }> {
  kernel.counters.running++;
  let answer: CallAnswer | undefined;
  try {
    const end = await walk(frame, kernel);
    enter("record", frame, kernel);
    answer = await record(frame, end, kernel);
    enter("reply", frame, kernel);
    return { response: reply(requestIdOf(frame), answer), answer };
  } finally {
    kernel.counters.running--;
    releaseCall(frame, answer);
    enter("done", frame, kernel);
  }
}

/** Fail closed: whatever is thrown on the way is a refusal, and is recorded as one. */
async function walk(frame: CallFrame, kernel: KernelParts): Promise<KeptCall | Ending> {
  try {
    return await takeStages(frame, kernel);
  } catch (fault) {
    kernel.log("error", "a stage failed", { request: frame.trail.requestId, cause: String(fault) });
    return Failed.from(fault, "INTERNAL", "the kernel could not finish this call; its log says why");
  }
}

async function takeStages(frame: CallFrame, kernel: KernelParts): Promise<KeptCall | Ending> {
  enter("admit", frame, kernel);
  const admitted = await admit(frame, kernel);
  if (isEnding(admitted)) return admitted;
  enter("bind", frame, kernel);
  const bound = bind(admitted, kernel);
  if (isEnding(bound)) return bound;
  enter("check", frame, kernel);
  const checked = await check(bound, kernel);
  if (isEnding(checked)) return checked;
  enter("decide", frame, kernel);
  let permitted = decide(checked, kernel);
  if (isEnding(permitted)) return permitted;
  enter("dedupe", frame, kernel);
  const fresh = await dedupe(permitted, kernel);
  if (isEnding(fresh)) return fresh;
  enter("endorse", frame, kernel);
  let endorsed = await endorse(fresh, kernel);
  if (endorsed === AGAIN) {
    enter("decide", frame, kernel);
    permitted = decide(checked, kernel);
    if (isEnding(permitted)) return permitted;
    enter("endorse", frame, kernel);
    endorsed = await endorse(permitted, kernel);
  }
  if (endorsed === AGAIN) return new Denied("APPROVAL_DENIED", "kernel:endorse", "what was approved changed while a person was asked");
  if (isEnding(endorsed)) return endorsed;
  enter("grant", frame, kernel);
  const granted = await grant(endorsed, kernel);
  if (isEnding(granted)) return granted;
  enter("invoke", frame, kernel);
  const invoked = await invoke(granted, kernel);
  if (isEnding(invoked)) return invoked;
  enter("keep", frame, kernel);
  return keep(invoked, kernel);
}

function enter(stage: Stage | "done", frame: CallFrame, kernel: KernelParts): void {
  if (kernel.observer === undefined) return;
  const { trail } = frame;
  kernel.observer.stage({ stage, requestId: trail.requestId, sessionId: trail.live?.id, toolName: trail.toolName });
}

/** The id as it came, even where it was too broken to be recorded under. */
function requestIdOf(frame: CallFrame): string {
  return frame.request instanceof Uint8Array ? frame.trail.requestId : frame.request.requestId;
}

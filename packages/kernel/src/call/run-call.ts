import type { ToolResponse } from "@narthex/contracts";
import type { CallAnswer } from "../journal/call-answer.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { Stage } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
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
import { answerOf } from "./record/answer-of.ts";
import { record } from "./record/record.ts";
import { releaseCall } from "./release-call.ts";
import { reply } from "./reply/reply.ts";

/** The path of one call. Every request comes out of here with exactly one answer. Never rejects. */
export async function runCall(
  frame: CallFrame,
  kernel: KernelParts,
): Promise<{ response: ToolResponse; answer: CallAnswer }> {
  kernel.counters.running++;
  try {
    const end = await walk(frame, kernel);
    observe("record", frame, kernel);
    const answer = await seal(frame, end, kernel);
    observe("reply", frame, kernel);
    releaseCall(frame, answer);
    return { response: reply(frame.trail.replyId, answer), answer };
  } finally {
    kernel.counters.running--;
    observe("done", frame, kernel);
  }
}

/** Fail closed: whatever is thrown on the way is a refusal, and is recorded as one. */
async function walk(frame: CallFrame, kernel: KernelParts): Promise<KeptCall | Ending> {
  try {
    return await takeStages(frame, kernel);
  } catch (fault) {
    const { trail } = frame;
    const cause = describeFault(fault, trail.tool?.tool.redactors);
    kernel.log("error", "a stage failed", { request: trail.requestId, cause });
    const failed = Failed.from(fault, "INTERNAL", "the kernel could not finish this call; its log says why");
    // What broke after an effect is no reason to have the effect again.
    return trail.effectsPossible
      ? new Failed(failed.code, failed.message, { violations: failed.violations, retryable: false })
      : failed;
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
  if (endorsed === AGAIN)
    return new Denied("APPROVAL_DENIED", "kernel:endorse", "what was approved changed while a person was asked");
  if (isEnding(endorsed)) return endorsed;
  enter("grant", frame, kernel);
  const granted = await grant(endorsed, kernel);
  if (isEnding(granted)) return granted;
  enter("invoke", frame, kernel);
  const invoked = await invoke(granted, kernel);
  if (isEnding(invoked)) return invoked;
  enter("keep", frame, kernel);
  return await keep(invoked, kernel);
}

/** INVARIANT: resolves whatever happens, so that everyone who waits for the call is answered. */
async function seal(frame: CallFrame, end: KeptCall | Ending, kernel: KernelParts): Promise<CallAnswer> {
  try {
    return await record(frame, end, kernel);
  } catch (fault) {
    kernel.log("error", "a call could not be answered", { cause: describeFault(fault) });
    return answerOf(frame, new Failed("INTERNAL", "the kernel could not answer this call; its log says why"), 0, {});
  }
}

function enter(stage: Stage | "done", frame: CallFrame, kernel: KernelParts): void {
  if (kernel.observer === undefined) return;
  const { trail } = frame;
  kernel.observer.stage({ stage, requestId: trail.requestId, sessionId: trail.live?.id, toolName: trail.toolName });
}

/** The same once the call has ended: what an observer throws can refuse a call, but not change how it ended. */
function observe(stage: Stage | "done", frame: CallFrame, kernel: KernelParts): void {
  try {
    enter(stage, frame, kernel);
  } catch (fault) {
    kernel.log("error", "the observer failed", { stage, cause: describeFault(fault) });
  }
}

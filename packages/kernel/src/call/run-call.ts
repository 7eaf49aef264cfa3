import type { ToolResponse } from "@narthex/contracts";
import type { CallAnswer } from "../journal/call-answer.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { CallOutcome, Stage } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
import { admit } from "./admit/admit.ts";
import { bind } from "./bind/bind.ts";
import type { CallFrame, KeptCall } from "./call.ts";
import { check } from "./check/check.ts";
import { decide } from "./decide/decide.ts";
import { lookAtTrusted } from "./decide/look-at-trusted.ts";
import { dedupe } from "./dedupe/dedupe.ts";
import { Denied, type Ending, Failed, isEnding } from "./ending.ts";
import { AGAIN, endorse } from "./endorse/endorse.ts";
import { grant } from "./grant/grant.ts";
import { invoke } from "./invoke/invoke.ts";
import { keep } from "./keep/keep.ts";
import { record } from "./record/record.ts";
import { releaseCall } from "./release-call.ts";
import { reply } from "./reply/reply.ts";

/** The path of one call. Every request comes out of here with exactly one answer. Never rejects. */
export async function runCall(
  frame: CallFrame,
  kernel: KernelParts,
): Promise<{ response: ToolResponse; answer: CallAnswer }> {
  kernel.counters.running++;
  const use = kernel.uses.begin();
  let answer: CallAnswer | undefined;
  try {
    const end = await takeStages(frame, kernel);
    observe("record", frame, kernel);
    answer = await record(frame, end, kernel);
    if (frame.trail.approvalId !== "") await releaseApproval(frame, kernel);
    observe("reply", frame, kernel, answer);
    releaseCall(frame, answer);
    return { response: reply(frame.trail.replyId, answer), answer };
  } finally {
    kernel.counters.running--;
    kernel.uses.end(use);
    observe("done", frame, kernel, answer);
  }
}

/**
 * Up to the end that is recorded. A stage that needs no waiting answers at once, and nothing is waited for.
 *
 * Fail closed: whatever is thrown on the way is a refusal, and is recorded as one.
 */
async function takeStages(frame: CallFrame, kernel: KernelParts): Promise<KeptCall | Ending> {
  try {
    enter("admit", frame, kernel);
    const admission = admit(frame, kernel);
    const admitted = admission instanceof Promise ? await admission : admission;
    if (isEnding(admitted)) return admitted;
    enter("bind", frame, kernel);
    const bound = bind(admitted, kernel);
    if (isEnding(bound)) return bound;
    enter("check", frame, kernel);
    const checking = check(bound, kernel);
    const checked = checking instanceof Promise ? await checking : checking;
    if (isEnding(checked)) return checked;
    enter("decide", frame, kernel);
    const looking = lookAtTrusted(checked, kernel);
    if (looking !== undefined) await looking;
    let permitted = decide(checked, kernel);
    if (isEnding(permitted)) return permitted;
    enter("dedupe", frame, kernel);
    const deduping = dedupe(permitted, kernel);
    const fresh = deduping instanceof Promise ? await deduping : deduping;
    if (isEnding(fresh)) return fresh;
    enter("endorse", frame, kernel);
    const endorsing = endorse(fresh, kernel);
    let endorsed = endorsing instanceof Promise ? await endorsing : endorsing;
    if (endorsed === AGAIN) {
      enter("decide", frame, kernel);
      permitted = decide(checked, kernel);
      if (isEnding(permitted)) return permitted;
      enter("endorse", frame, kernel);
      endorsed = await endorse(permitted, kernel);
    }
    if (endorsed === AGAIN) return changedWhileAsked();
    if (isEnding(endorsed)) return endorsed;
    enter("grant", frame, kernel);
    const granting = grant(endorsed, kernel);
    const granted = granting instanceof Promise ? await granting : granting;
    if (isEnding(granted)) return granted;
    enter("invoke", frame, kernel);
    const invoking = invoke(granted, kernel);
    const invoked = invoking instanceof Promise ? await invoking : invoking;
    if (isEnding(invoked)) return invoked;
    enter("keep", frame, kernel);
    const keeping = keep(invoked, kernel);
    return keeping instanceof Promise ? await keeping : keeping;
  } catch (fault) {
    return broken(frame, fault, kernel);
  }
}

/** A yes that was not used is good for the same call again, unless what it was given for changed. */
async function releaseApproval({ trail }: CallFrame, kernel: KernelParts): Promise<void> {
  try {
    await kernel.approvals.release(trail.approvalId);
  } catch (fault) {
    kernel.log("error", "an approval could not be taken back", { cause: describeFault(fault) });
  }
}

function changedWhileAsked(): Denied {
  return new Denied("APPROVAL_DENIED", "kernel:endorse", "what was approved changed while a person was asked");
}

function broken({ trail }: CallFrame, fault: unknown, kernel: KernelParts): Failed {
  const cause = describeFault(fault, trail.tool?.tool.redactors);
  kernel.log("error", "a stage failed", { request: trail.requestId, cause });
  return Failed.from(fault, "INTERNAL", "the kernel could not finish this call; its log says why");
}

function enter(stage: Stage | "done", frame: CallFrame, kernel: KernelParts, answer?: CallAnswer): void {
  if (kernel.observer === undefined) return;
  const { trail, door, traceParent } = frame;
  kernel.observer.stage({
    stage,
    call: trail,
    requestId: trail.requestId,
    sessionId: trail.live?.id,
    toolName: trail.toolName,
    door,
    traceParent,
    outcome: answer && outcomeOf(answer),
  });
}

function outcomeOf({ result }: CallAnswer): CallOutcome {
  if (result.case === "denied") return { status: "denied", code: result.value.rationaleCode };
  if (result.case === "error") return { status: "error", code: result.value.errorCode };
  return { status: "success", code: "" };
}

/** The same once the call has ended: what an observer throws can refuse a call, but not change how it ended. */
function observe(stage: Stage | "done", frame: CallFrame, kernel: KernelParts, answer?: CallAnswer): void {
  try {
    enter(stage, frame, kernel, answer);
  } catch (fault) {
    kernel.log("error", "the observer failed", { stage, cause: describeFault(fault) });
  }
}

import type { ToolResponse } from "@narthex/contracts";
import type { CallResponse } from "../journal/call-response.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { CallOutcome, Stage } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
import { admit } from "./admit/admit.ts";
import { bind } from "./bind/bind.ts";
import type { IncomingCall, KeptCall } from "./call.ts";
import { check } from "./check/check.ts";
import { decide } from "./decide/decide.ts";
import { inspectTrustedPaths } from "./decide/inspect-trusted-paths.ts";
import { dedupe } from "./dedupe/dedupe.ts";
import { Denied, type Ending, Failed, isEnding } from "./ending.ts";
import { REDECIDE, endorse } from "./endorse/endorse.ts";
import { grant } from "./grant/grant.ts";
import { invoke } from "./invoke/invoke.ts";
import { keep } from "./keep/keep.ts";
import { record } from "./record/record.ts";
import { releaseCall } from "./release-call.ts";
import { reply } from "./reply/reply.ts";

/** Runs one call through all stages. Every request gets exactly one response. Never rejects. */
export async function runCall(
  incoming: IncomingCall,
  kernel: KernelParts,
): Promise<{ response: ToolResponse; answer: CallResponse }> {
  kernel.counters.running++;
  const use = kernel.contentUses.begin();
  let answer: CallResponse | undefined;
  try {
    const end = await runStages(incoming, kernel);
    observe("record", incoming, kernel);
    answer = await record(incoming, end, kernel);
    if (incoming.trail.approvalId !== "") await releaseApproval(incoming, kernel);
    observe("reply", incoming, kernel, answer);
    releaseCall(incoming, answer);
    return { response: reply(incoming.trail.replyId, answer), answer };
  } finally {
    kernel.counters.running--;
    kernel.contentUses.end(use);
    observe("done", incoming, kernel, answer);
  }
}

/**
 * Runs the stages up to the ending that is recorded. A stage that needs no wait returns synchronously, and is not
 * awaited.
 *
 * Fail closed: an error thrown by any stage is a refusal, and is recorded as one.
 */
async function runStages(incoming: IncomingCall, kernel: KernelParts): Promise<KeptCall | Ending> {
  try {
    enter("admit", incoming, kernel);
    const admission = admit(incoming, kernel);
    const admitted = admission instanceof Promise ? await admission : admission;
    if (isEnding(admitted)) return admitted;
    enter("bind", incoming, kernel);
    const bound = bind(admitted, kernel);
    if (isEnding(bound)) return bound;
    enter("check", incoming, kernel);
    const checking = check(bound, kernel);
    const checked = checking instanceof Promise ? await checking : checking;
    if (isEnding(checked)) return checked;
    enter("decide", incoming, kernel);
    const looking = inspectTrustedPaths(checked, kernel);
    if (looking !== undefined) await looking;
    let permitted = decide(checked, kernel);
    if (isEnding(permitted)) return permitted;
    enter("dedupe", incoming, kernel);
    const deduping = dedupe(permitted, kernel);
    const fresh = deduping instanceof Promise ? await deduping : deduping;
    if (isEnding(fresh)) return fresh;
    enter("endorse", incoming, kernel);
    const endorsing = endorse(fresh, kernel);
    let endorsed = endorsing instanceof Promise ? await endorsing : endorsing;
    if (endorsed === REDECIDE) {
      enter("decide", incoming, kernel);
      permitted = decide(checked, kernel);
      if (isEnding(permitted)) return permitted;
      enter("endorse", incoming, kernel);
      endorsed = await endorse(permitted, kernel);
    }
    if (endorsed === REDECIDE) return changedDuringApproval();
    if (isEnding(endorsed)) return endorsed;
    enter("grant", incoming, kernel);
    const granting = grant(endorsed, kernel);
    const granted = granting instanceof Promise ? await granting : granting;
    if (isEnding(granted)) return granted;
    enter("invoke", incoming, kernel);
    const invoking = invoke(granted, kernel);
    const invoked = invoking instanceof Promise ? await invoking : invoking;
    if (isEnding(invoked)) return invoked;
    enter("keep", incoming, kernel);
    const keeping = keep(invoked, kernel);
    return keeping instanceof Promise ? await keeping : keeping;
  } catch (fault) {
    return internalFailure(incoming, fault, kernel);
  }
}

/**
 * Releases an approval. If it was not used it is available again for the same call, unless what it was given for has
 * changed.
 */
async function releaseApproval({ trail }: IncomingCall, kernel: KernelParts): Promise<void> {
  try {
    await kernel.approvals.release(trail.approvalId);
  } catch (fault) {
    kernel.logger("error", "an approval could not be taken back", { cause: describeFault(fault) });
  }
}

function changedDuringApproval(): Denied {
  return new Denied("APPROVAL_DENIED", "kernel:endorse", "what was approved changed while a person was asked");
}

function internalFailure({ trail }: IncomingCall, fault: unknown, kernel: KernelParts): Failed {
  const cause = describeFault(fault, trail.tool?.tool.redactors);
  kernel.logger("error", "a stage failed", { request: trail.requestId, cause });
  return Failed.from(fault, "INTERNAL", "the kernel could not finish this call; its log says why");
}

function enter(stage: Stage | "done", incoming: IncomingCall, kernel: KernelParts, answer?: CallResponse): void {
  if (kernel.observer === undefined) return;
  const { trail, door, traceParent } = incoming;
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

function outcomeOf({ result }: CallResponse): CallOutcome {
  if (result.case === "denied") return { status: "denied", code: result.value.rationaleCode };
  if (result.case === "error") return { status: "error", code: result.value.errorCode };
  return { status: "success", code: "" };
}

/**
 * Notifies the observer once the call has ended. An observer that throws earlier refuses the call; one that throws here
 * cannot change how it ended.
 */
function observe(stage: Stage | "done", incoming: IncomingCall, kernel: KernelParts, answer?: CallResponse): void {
  try {
    enter(stage, incoming, kernel, answer);
  } catch (fault) {
    kernel.logger("error", "the observer failed", { stage, cause: describeFault(fault) });
  }
}

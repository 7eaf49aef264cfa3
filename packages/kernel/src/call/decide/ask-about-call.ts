import type { Capability } from "../../capability/capability.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { type AskedCall, questionsAbout } from "../../policy/call-questions.ts";
import type { NarrowedTool } from "../../tool/narrow-for.ts";
import type { CheckedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import { labelsOfCall } from "../labels-of-call.ts";
import { protectedFor } from "../protected-for.ts";
import { askPolicy, type PolicyWord, stricter } from "./ask-policy.ts";

/** Asks policy about everything the call is about. All must permit, and the strictest door counts. */
export function askAboutCall(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): PolicyWord | Denied {
  const asked = askedCall(call, facts, needed, kernel);
  let word: PolicyWord | undefined;
  for (const question of questionsAbout(asked, protectedFor(call, kernel))) {
    const answer = askPolicy(asked, question, call.trail, kernel);
    if (answer instanceof Denied) return answer;
    word = word === undefined ? answer : stricter(word, answer);
  }
  // There is always a question.
  return word ?? new Denied("POLICY_ERROR", "kernel:decide", "policy was asked about nothing");
}

/** As policy is asked about it. */
export function askedCall(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): AskedCall {
  const { live, registered, input, recordedInput, inputDigest } = call;
  const labels = labelsOfCall(call, facts.effects, kernel);
  return { live, registered, facts, input, recordedInput, redact: undefined, inputDigest, needed, labels };
}

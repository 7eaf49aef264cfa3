import type { Capability } from "../../capability/capability.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { type PolicyInput, listPolicyChecks } from "../../policy/policy-checks.ts";
import type { NarrowedTool } from "../../tool/narrow-tool.ts";
import type { CheckedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import { callLabels } from "../call-labels.ts";
import { callProtectedPaths } from "../call-protected-paths.ts";
import { evaluateCheck, type PolicyOutcome, stricter } from "./evaluate-check.ts";

/**
 * Evaluates policy for everything that the call affects. Every check must permit it, and the strictest approval
 * applies.
 */
export function evaluateCall(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): PolicyOutcome | Denied {
  const asked = toPolicyInput(call, facts, needed, kernel);
  let word: PolicyOutcome | undefined;
  for (const question of listPolicyChecks(asked, callProtectedPaths(call, kernel))) {
    const answer = evaluateCheck(asked, question, call.trail, kernel);
    if (answer instanceof Denied) return answer;
    word = word === undefined ? answer : stricter(word, answer);
  }
  // There is always at least one check.
  return word ?? new Denied("POLICY_ERROR", "kernel:decide", "policy was asked about nothing");
}

/** Creates the input for the policy requests about a call. */
export function toPolicyInput(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): PolicyInput {
  const { live, registered, input, recordedInput, inputDigest } = call;
  const labels = callLabels(call, facts.effects, kernel);
  return { live, registered, facts, input, recordedInput, redact: undefined, inputDigest, needed, labels };
}

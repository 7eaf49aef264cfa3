import type { Capability } from "../../capability/capability.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { callFacts, plainFacts } from "../../policy/call-facts.ts";
import { type PolicyQuestion, policyQuestion } from "../../policy/policy-question.ts";
import type { PolicyTarget } from "../../policy/policy-target.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import type { NarrowedTool } from "../../tool/narrow-for.ts";
import type { CheckedCall } from "../call.ts";
import { labelsOfCall } from "../labels-of-call.ts";

/** One thing that policy is asked about a call. */
export interface CallQuestion {
  readonly call: CheckedCall;
  readonly facts: NarrowedTool;
  readonly needed: readonly Capability[];
  readonly target: PolicyTarget;
}

/** About protected paths all tools are asked alike, so what only some have is left out. */
export function questionAbout({ call, facts, needed, target }: CallQuestion, kernel: KernelParts): PolicyQuestion {
  const { live, registered, input, inputDigest } = call;
  const { tool } = registered;
  const asked = { live, tool, input, inputDigest, needed, labels: labelsOfCall(call, facts.effects, kernel) };
  if (facts.action === PROTECTED_ACTION) {
    const { path, writes } = target;
    return policyQuestion(
      live,
      registered,
      facts,
      { ...plainFacts(asked), path: path ?? ".", writes: writes ?? true },
      {},
    );
  }
  const visible = kernel.policy.visibleInput(facts.action, input);
  return policyQuestion(live, registered, facts, { ...callFacts(asked), ...target }, visible);
}

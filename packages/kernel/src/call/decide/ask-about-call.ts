import type { Capability } from "../../capability/capability.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { type PolicyTarget, targetsOf } from "../../policy/policy-target.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import type { NarrowedTool } from "../../tool/narrow-for.ts";
import type { CheckedCall, DecidedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import { askPolicy } from "./ask-policy.ts";

type PolicyWord = Pick<DecidedCall, "policyAnswer" | "policyHash" | "approval">;

const STRICTNESS = ["none", "human", "console"] as const;

/**
 * Asks policy about everything the call is about: each path and each host, and each protected path that it writes once
 * more. All must permit, and the strictest door counts.
 */
export function askAboutCall(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): PolicyWord | Denied {
  const { tool } = call.registered;
  let word: PolicyWord | undefined;
  for (const target of targetsOf(tool, facts.effects, needed, call.live.session.workspace)) {
    const answer = askPolicy({ call, facts, needed, target }, kernel);
    if (answer instanceof Denied) return answer;
    word = stricter(word, answer);
    if (!isProtected(target, kernel)) continue;
    const second = askPolicy({ call, facts: { ...facts, action: PROTECTED_ACTION }, needed, target }, kernel);
    if (second instanceof Denied) {
      return new Denied(second.rationaleCode, second.ruleId, `\`${target.path}\` is protected: ${second.message}`);
    }
    word = stricter(word, second);
  }
  // There is always a target.
  return word ?? new Denied("POLICY_ERROR", "kernel:decide", "policy was asked about nothing");
}

function isProtected({ path, writes }: PolicyTarget, kernel: KernelParts): boolean {
  return writes === true && path !== undefined && path !== "." && kernel.isProtected(path);
}

function stricter(first: PolicyWord | undefined, second: PolicyWord): PolicyWord {
  if (first === undefined) return second;
  const strictest = Math.max(STRICTNESS.indexOf(first.approval), STRICTNESS.indexOf(second.approval));
  const rules = new Map([...first.policyAnswer.rules, ...second.policyAnswer.rules].map((rule) => [rule.id, rule]));
  return {
    ...first,
    policyAnswer: { ...first.policyAnswer, rules: [...rules.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) },
    approval: STRICTNESS[strictest] ?? "console",
  };
}

import type { SafetyTier } from "../tool/tool.ts";
import type { PolicyEvaluation, PolicyRule } from "./policy.ts";
import type { PolicyRefusal } from "./policy-refusal.ts";

/** Whether a person must approve a permitted call before it runs. */
export interface ApprovalRequirement {
  /** Where the question may be answered; `none` if no person is asked. */
  readonly approve: "none" | "human" | "console";
  /** The `@approve("always")` rules that ask: only a rule that names them in `@overrides` lifts them. */
  readonly always: readonly string[];
}

const NO_APPROVAL: ApprovalRequirement = Object.freeze({ approve: "none", always: Object.freeze([]) });

/**
 * SPEC: a privileged call needs an approval unless its permitting rule says `@approve("none")`; with several determining
 * permits a person is asked only if all of them ask, and then at the console if any of them demands it. A rule with
 * `@approve("always")` asks whatever other rules permit, unless one of them names it in `@overrides`.
 */
export function approvalRequirement(rules: readonly PolicyRule[], tier: SafetyTier): ApprovalRequirement {
  const always = unliftedRules(rules);
  let approve: "human" | "console" = "human";
  for (const rule of rules) {
    if (always.length === 0 && !requiresApproval(rule, tier)) return NO_APPROVAL;
    if (rule.approve === "console") approve = "console";
  }
  // Without any rule nothing is permitted, and asking is the safe answer.
  return { approve, always };
}

/** The same for an answer of policy: what is refused is not asked about. */
export function toApprovalRequirement(
  { rules }: PolicyEvaluation,
  refusal: PolicyRefusal | undefined,
  tier: SafetyTier,
): ApprovalRequirement {
  return refusal === undefined ? approvalRequirement(rules, tier) : NO_APPROVAL;
}

function unliftedRules(rules: readonly PolicyRule[]): string[] {
  const always = rules.filter(({ approve }) => approve === "always").map(({ id }) => id);
  if (always.length === 0) return always;
  const lifted = new Set(rules.flatMap(({ overrides }) => overrides));
  return always.filter((id) => !lifted.has(id));
}

/** Whether the rule, on its own, has a person asked about a call of this tier. */
export function requiresApproval({ approve }: Pick<PolicyRule, "approve">, tier: SafetyTier): boolean {
  return approve === "unstated" ? tier === "privileged" : approve !== "none";
}

import type { SafetyTier } from "../tool/tool.ts";
import type { PolicyEvaluation, PolicyRule } from "./policy.ts";
import type { PolicyRefusal } from "./policy-refusal.ts";

/** Whether a person must approve a permitted call before it runs. */
export interface ApprovalRequirement {
  /**
   * Where the call can be approved: `human` at any door, `console` at the console only; `none` if no approval is
   * required.
   */
  readonly approve: "none" | "human" | "console";
  /**
   * The `@approve("always")` rules that demand the approval. Only a rule that names them in `@overrides` lifts them.
   */
  readonly always: readonly string[];
}

const NO_APPROVAL: ApprovalRequirement = Object.freeze({ approve: "none", always: Object.freeze([]) });

/**
 * Computes the approval requirement of a permitted call.
 *
 * SPEC: a privileged call needs an approval unless its permitting rule says `@approve("none")`. With several
 * determining permits an approval is required only if all of them require one, and then at the console if any of them
 * demands it. A rule with `@approve("always")` requires an approval whatever other rules permit, unless one of them
 * names it in `@overrides`.
 */
export function approvalRequirement(rules: readonly PolicyRule[], tier: SafetyTier): ApprovalRequirement {
  const always = unliftedRules(rules);
  let approve: "human" | "console" = "human";
  for (const rule of rules) {
    if (always.length === 0 && !requiresApproval(rule, tier)) return NO_APPROVAL;
    if (rule.approve === "console") approve = "console";
  }
  // No rule permits anything here; requiring an approval is the safe result.
  return { approve, always };
}

/** The approval requirement of a policy decision. A denied call needs no approval. */
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

/** Whether the rule, on its own, requires an approval for a call of this tier. */
export function requiresApproval({ approve }: Pick<PolicyRule, "approve">, tier: SafetyTier): boolean {
  return approve === "unstated" ? tier === "privileged" : approve !== "none";
}

import type { SafetyTier } from "../tool/tool.ts";
import type { PolicyAnswer, PolicyRule } from "./policy.ts";
import type { PolicyRefusal } from "./refusal-of.ts";

/** Whether a person must approve a permitted call before it runs. */
export interface CallDemand {
  /** Where the question may be answered; `none` if no person is asked. */
  readonly approve: "none" | "human" | "console";
  /** The `@approve("always")` rules that ask: only a rule that names them in `@overrides` lifts them. */
  readonly always: readonly string[];
}

const NOT_ASKED: CallDemand = Object.freeze({ approve: "none", always: Object.freeze([]) });

/**
 * SPEC: a privileged call needs an approval unless its permitting rule says `@approve("none")`; with several determining
 * permits a person is asked only if all of them ask, and then at the console if any of them demands it. A rule with
 * `@approve("always")` asks whatever other rules permit, unless one of them names it in `@overrides`.
 */
export function approvalDemand(rules: readonly PolicyRule[], tier: SafetyTier): CallDemand {
  const always = unliftedRules(rules);
  let approve: "human" | "console" = "human";
  for (const rule of rules) {
    if (always.length === 0 && !asks(rule, tier)) return NOT_ASKED;
    if (rule.approve === "console") approve = "console";
  }
  // Without any rule nothing is permitted, and asking is the safe answer.
  return { approve, always };
}

/** The same for an answer of policy: what is refused is not asked about. */
export function demandFor({ rules }: PolicyAnswer, refusal: PolicyRefusal | undefined, tier: SafetyTier): CallDemand {
  return refusal === undefined ? approvalDemand(rules, tier) : NOT_ASKED;
}

function unliftedRules(rules: readonly PolicyRule[]): string[] {
  const always = rules.filter(({ approve }) => approve === "always").map(({ id }) => id);
  if (always.length === 0) return always;
  const lifted = new Set(rules.flatMap(({ overrides }) => overrides));
  return always.filter((id) => !lifted.has(id));
}

/** Whether the rule, on its own, has a person asked about a call of this tier. */
export function asks({ approve }: Pick<PolicyRule, "approve">, tier: SafetyTier): boolean {
  return approve === "unstated" ? tier === "privileged" : approve !== "none";
}

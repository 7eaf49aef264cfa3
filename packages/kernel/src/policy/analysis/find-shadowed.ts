import { requiresApproval } from "../approval-requirement.ts";
import type { PolicyRule } from "../policy.ts";
import { type AnalysedRule, type AnalysedSet, analysedRules, factsOfMatch } from "./analysed-rules.ts";
import { isTrue } from "./expression-nodes.ts";
import type { KnownFacts } from "./known-facts.ts";
import { reduceExpression } from "./reduce-expression.ts";
import type { ToolVariant } from "./tool-variants.ts";

/** A rule that demands an approval without effect, because other rules permit the same calls without one. */
export interface ShadowedRule {
  readonly ruleId: string;
  /** The rules that permit these calls, at least one. */
  readonly by: readonly string[];
  /** The affected actions; empty if all actions of the rule are affected. */
  readonly actions: readonly string[];
}

export interface ShadowedRules {
  readonly shadowed: readonly ShadowedRule[];
  /** False if there were too many rules to compare all pairs. */
  readonly isComplete: boolean;
}

/** Maximum number of comparisons of two rules. A set of a few hundred rules needs a few thousand. */
const MAX_COMPARISONS = 100_000;

/**
 * Finds rules whose demand for an approval never takes effect. Compares a rule's scope, its conditions and the
 * declarations of the tools. Reports only what is proven, so it has no false positives but may miss rules.
 */
export function findShadowed(set: AnalysedSet): ShadowedRules {
  const permits = analysedRules(set).filter(({ isPermit }) => isPermit);
  const byAction = new Map<string, AnalysedRule[]>();
  for (const permit of permits) {
    if (permit.rule.approve === "human" || permit.rule.approve === "console") continue;
    for (const action of permit.actions) byAction.set(action, [...(byAction.get(action) ?? []), permit]);
  }
  const budget = { left: MAX_COMPARISONS };
  const shadowed: ShadowedRule[] = [];
  for (const asking of permits) {
    if (!["human", "console", "always"].includes(asking.rule.approve)) continue;
    const found = findShadows(asking, byAction, set, budget);
    if (budget.left < 0) return { shadowed, isComplete: false };
    if (found !== undefined) shadowed.push(found);
  }
  return { shadowed, isComplete: true };
}

function findShadows(
  asking: AnalysedRule,
  byAction: ReadonlyMap<string, readonly AnalysedRule[]>,
  set: AnalysedSet,
  budget: { left: number },
): ShadowedRule | undefined {
  const shadows = new Map<string, ReadonlySet<string> | undefined>();
  for (const action of asking.actions) {
    const found = shadowsOf(asking, action, byAction.get(action) ?? [], set, budget);
    // No request for this action can match the rule.
    if (found !== "never") shadows.set(action, found);
  }
  const isWhole = shadows.size > 0 && [...shadows.values()].every((by) => by !== undefined);
  const actions = [...shadows].flatMap(([action, by]) => (by === undefined ? [] : [action]));
  const reported = isWhole ? actions : actions.filter((action) => asking.named.includes(action));
  if (reported.length === 0) return undefined;
  const by = new Set(reported.flatMap((action) => [...(shadows.get(action) ?? [])]));
  return { ruleId: asking.rule.id, by: [...by], actions: isWhole ? [] : reported };
}

/**
 * The rules that together permit, without an approval, every request the rule matches; undefined if nothing is proven.
 */
function shadowsOf(
  asking: AnalysedRule,
  action: string,
  others: readonly AnalysedRule[],
  set: AnalysedSet,
  budget: { left: number },
): ReadonlySet<string> | "never" | undefined {
  const found = new Set<string>();
  let canMatch = false;
  for (const variant of set.variantsOf(action)) {
    const { facts, impossible } = factsOfMatch(asking, action, variant, set);
    if (impossible !== undefined) continue;
    canMatch = true;
    const shadow = others.find((other) => {
      if (!lifts(other.rule, asking.rule, variant)) return false;
      return --budget.left >= 0 && isImplied(other, facts);
    });
    if (shadow === undefined) return undefined;
    found.add(shadow.rule.id);
  }
  return canMatch ? found : "never";
}

/** Whether `rule` removes the approval that `asking` demands, for a call that both permit. */
function lifts(rule: PolicyRule, asking: PolicyRule, { tiers }: ToolVariant): boolean {
  if (rule.id === asking.id) return false;
  if (asking.approve === "always") return rule.overrides.includes(asking.id);
  return tiers.every((tier) => !requiresApproval(rule, tier));
}

function isImplied({ conjuncts }: AnalysedRule, facts: KnownFacts): boolean {
  return [...conjuncts.scope, ...conjuncts.conditions].every((condition) => isTrue(reduceExpression(condition, facts)));
}

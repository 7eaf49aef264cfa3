import type { JsonValue } from "@narthex/contracts";
import { compileRule } from "../cedar/compile-rule.ts";
import type { ActionScope } from "../cedar/compile-scope.ts";
import { UnsupportedError } from "../cedar/unsupported-error.ts";
import type { CedarPolicy } from "../cedar/cedar.ts";
import type { PolicyRule } from "../policy.ts";
import type { PolicySchema } from "../schema/read-policy-schema.ts";
import { createFacts, type KnownFacts, learn } from "./known-facts.ts";
import { isFalse } from "./expression-nodes.ts";
import { reduceExpression } from "./reduce-expression.ts";
import { type RuleConjuncts, ruleConjuncts } from "./rule-conjuncts.ts";
import type { ToolVariant } from "./tool-variants.ts";

/** A set of rules with the schema and the tool variants that describe the calls they decide. */
export interface AnalysedSet {
  readonly rules: readonly PolicyRule[];
  /** The same rules in the same order, in Cedar's JSON form. */
  readonly policies: readonly CedarPolicy[];
  readonly schema: Pick<PolicySchema, "actions" | "groupsOf" | "contextOf">;
  variantsOf(action: string): readonly ToolVariant[];
}

/** One rule, prepared for comparison with others. */
export interface AnalysedRule {
  readonly rule: PolicyRule;
  readonly isPermit: boolean;
  readonly conjuncts: RuleConjuncts;
  /** The actions the rule applies to, with groups expanded. */
  readonly actions: readonly string[];
  /** The actions that the rule names itself, not through a group. */
  readonly named: readonly string[];
}

/** Returns the rules that can be analysed. Rules that the compiled evaluator does not support are left out. */
export function analysedRules({ rules, policies, schema }: AnalysedSet): AnalysedRule[] {
  const actions = schema.actions.filter((action) => schema.contextOf(action).attributes.length > 0);
  return policies.flatMap((policy, index) => {
    const rule = rules[index];
    const actionScope = actionScopeOf(policy);
    const conjuncts = actionScope === undefined ? undefined : ruleConjuncts(policy.json);
    if (rule === undefined || actionScope === undefined || conjuncts === undefined) return [];
    const isPermit = policy.json["effect"] === "permit";
    return [{ rule, isPermit, conjuncts, ...actionsOf(actionScope.scope, actions, schema) }];
  });
}

function actionScopeOf(policy: CedarPolicy): { readonly scope: ActionScope } | undefined {
  try {
    return { scope: compileRule(policy, new Map()).actionScope };
  } catch (fault) {
    if (fault instanceof UnsupportedError) return undefined;
    throw fault;
  }
}

function actionsOf(
  scope: ActionScope,
  actions: readonly string[],
  { groupsOf }: AnalysedSet["schema"],
): Pick<AnalysedRule, "actions" | "named"> {
  if (scope === undefined) return { actions, named: [] };
  const ids = new Set(scope.actions.map(({ id }) => id));
  const about = actions.filter((action) =>
    scope.isGroup ? groupsOf(action).some((group) => ids.has(group)) : ids.has(action),
  );
  return { actions: about, named: about.filter((action) => ids.has(action)) };
}

/** Facts that hold for every request that matches a rule, and the first condition that no such request can satisfy. */
export interface MatchingFacts {
  readonly facts: KnownFacts;
  /** Undefined if a request can match. */
  readonly impossible: JsonValue | undefined;
}

/**
 * Derives the facts that hold for every request that matches the rule, for this action and this version of its tool.
 */
export function factsOfMatch(
  { conjuncts }: AnalysedRule,
  action: string,
  variant: ToolVariant,
  { schema }: Pick<AnalysedSet, "schema">,
): MatchingFacts {
  const facts = createFacts({ action, groups: schema.groupsOf(action), context: schema.contextOf(action), variant });
  for (const condition of [...conjuncts.scope, ...conjuncts.conditions]) {
    if (isFalse(reduceExpression(condition, facts))) return { facts, impossible: condition };
    learn(condition, facts);
  }
  return { facts, impossible: undefined };
}

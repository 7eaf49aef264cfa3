import { canonicalJson, type Violation } from "@narthex/contracts";
import {
  type CedarPolicy,
  findShadowed,
  findStaleOverrides,
  nearestName,
  type PolicySchema,
  quoteText,
  type ShadowedRule,
  showText,
  type StaleOverride,
  toolVariants,
  type VariantTool,
} from "@narthex/kernel";
import type { LoadedPolicySet } from "./load-policy-set.ts";
import type { LoadedRule } from "./read-rules.ts";

/** A rule that does not do what it appears to do. */
export interface RuleRemark {
  /** File that contains the rule. */
  readonly file: string;
  /** `file:line:column: message` as a violation. */
  readonly violation: Violation;
  /** Whether it is always a warning, even in strict files. */
  readonly isAdvice: boolean;
}

/**
 * Finds problems between the rules of a valid set: rules that can never ask for approval because others permit the same
 * calls without it, and overrides without effect.
 */
export function reviewRules(
  { rules, policies }: Pick<LoadedPolicySet, "rules" | "policies">,
  schema: PolicySchema,
  tools: readonly VariantTool[],
): RuleRemark[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const remark = (ruleId: string, message: string, isAdvice = false): RuleRemark[] => {
    const rule = byId.get(ruleId);
    return rule === undefined ? [] : [{ file: rule.file, violation: violationAt(rule, message), isAdvice }];
  };
  const { shadowed, isComplete } = findShadowed({ rules, policies, schema, variantsOf: toolVariants(tools) });
  const ids = rules.map(({ id }) => id);
  return [
    ...shadowed.flatMap((found) => remark(found.ruleId, shadowMessage(found, byId))),
    ...findStaleOverrides(rules).flatMap((found) => remark(found.ruleId, staleMessage(found, ids))),
    ...policies.filter(isEarlierDefault).flatMap(({ id }) => remark(id, EARLIER_DEFAULT, true)),
    ...(isComplete ? [] : [{ file: "", violation: { ...TOO_MANY }, isAdvice: true }]),
  ];
}

const TOO_MANY: Violation = {
  field: "",
  rule: "max_items",
  message: "there are too many rules to find those that never ask because of others",
};

/** A home keeps the default rules it was created with, so an old default can still be in use. */
const EARLIER_DEFAULT =
  "this rule of an earlier default policy permits every tool that declares no effect, whatever its tier; add " +
  '`&& context.tier == "read_only"` to its condition';
const EARLIER_CONDITION =
  '[{"body":{"isEmpty":{"arg":{".":{"attr":"effects","left":{"Var":"context"}}}}},"kind":"when"}]';

function isEarlierDefault({ id, json }: CedarPolicy): boolean {
  return id === "without-effects" && canonicalJson(json["conditions"] ?? null) === EARLIER_CONDITION;
}

export function violationAt({ file, line, column }: LoadedRule, message: string): Violation {
  return { field: `${showText(file)}:${line}:${column}`, rule: "format", message };
}

function shadowMessage({ ruleId, by, actions }: ShadowedRule, byId: ReadonlyMap<string, LoadedRule>): string {
  const about = actions.length === 0 ? "" : ` about ${actions.map((action) => quoteText(action)).join(", ")}`;
  const [name, others] = [quoteText(ruleId), by.map((id) => placedName(id, byId)).join(" and ")];
  const are = by.length === 1 ? "permits" : "permit";
  if (byId.get(ruleId)?.approve === "always")
    return `${name} never asks${about}: ${others} overrides it for every call`;
  const remedy = '@approve("always") asks whatever other rules permit';
  return `${name} never asks${about}: ${others} ${are} the same calls without asking; ${remedy}`;
}

function placedName(id: string, byId: ReadonlyMap<string, LoadedRule>): string {
  const rule = byId.get(id);
  return rule === undefined ? quoteText(id) : `${quoteText(id)} (${showText(rule.file)}:${rule.line})`;
}

function staleMessage({ named, isKnown }: StaleOverride, ids: readonly string[]): string {
  if (isKnown) return `@overrides names ${quoteText(named)}, which does not say @approve("always"): nothing is lifted`;
  const nearest = nearestName(named, ids);
  const hint = nearest === undefined ? "" : `; did you mean ${quoteText(nearest)}?`;
  return `@overrides names ${quoteText(named)}, which is no rule of this set${hint}`;
}

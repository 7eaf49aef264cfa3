import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonValue, Violation } from "@narthex/contracts";
import {
  DETERMINISM_LEVELS,
  EFFECTS,
  findImpossible,
  nearestName,
  type PolicySchema,
  quoteText,
  SAFETY_TIERS,
  toolVariants,
  type VariantTool,
} from "@narthex/kernel";
import { type Cedar, loadCedar } from "./cedar-wasm.ts";
import type { LoadedPolicySet } from "./load-policy-set.ts";
import { violationAt } from "./review-rules.ts";

/** Finds rules of a valid set that no call of these tools can match, except those that Cedar itself warned of. */
export async function findImpossibleRules(
  { rules, policies, warnings }: Pick<LoadedPolicySet, "rules" | "policies" | "warnings">,
  schema: PolicySchema,
  tools: readonly VariantTool[],
): Promise<Violation[]> {
  const found = findImpossible({ rules, policies, schema, variantsOf: toolVariants(tools) });
  if (found.length === 0) return [];
  const cedar = await loadCedar();
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const told = new Set(warnings.map(({ field }) => field));
  return found.flatMap(({ ruleId, condition }) => {
    const rule = byId.get(ruleId);
    if (rule === undefined) return [];
    const violation = violationAt(rule, `${quoteText(ruleId)} can never match: ${reasonOf(cedar, condition)}`);
    return told.has(violation.field) ? [] : [violation];
  });
}

function reasonOf(cedar: Cedar, condition: JsonValue | undefined): string {
  if (condition === undefined) return "no tool has an action that it is about";
  const hint = hintFor(condition);
  return `${quoteText(textOf(cedar, condition))} is false for every call that meets its other conditions${hint}`;
}

const ALL = { op: "All" } as const;
const AROUND = /^permit\s*\(\s*principal\s*,\s*action\s*,\s*resource\s*\)\s*when\s*\{\s*|\s*\}\s*;\s*$/g;

/** Formats an expression as Cedar text. */
function textOf(cedar: Cedar, condition: JsonValue): string {
  // Safe cast: the expression is part of a rule that Cedar parsed.
  const body = condition as unknown as Expr;
  const policy: PolicyJson = {
    effect: "permit",
    principal: ALL,
    action: ALL,
    resource: ALL,
    conditions: [{ kind: "when", body }],
  };
  const answer = cedar.policyToText(policy);
  return answer.type === "success" ? answer.text.replace(AROUND, "").replaceAll(/\s+/g, " ") : "a condition";
}

const WORDS: readonly string[] = [...SAFETY_TIERS, ...EFFECTS, ...DETERMINISM_LEVELS];

/** Suggests the spelling of a misspelled tier, effect or determinism level. */
function hintFor(condition: JsonValue): string {
  const words = textsIn(condition).filter((text) => !WORDS.includes(text));
  const nearest = words.map((word) => nearestName(word, WORDS)).find((word) => word !== undefined);
  return nearest === undefined ? "" : `; did you mean ${quoteText(nearest)}?`;
}

/** Returns every string literal of an expression. */
function textsIn(node: JsonValue): string[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(textsIn);
  return Object.entries(node).flatMap(([name, value]) =>
    name === "Value" && typeof value === "string" ? [value] : textsIn(value),
  );
}

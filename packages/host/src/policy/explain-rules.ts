import type { Clause, Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { CedarEngine, CedarPolicy, CedarRequest, PolicySchema, RuleFinding } from "@narthex/kernel";
import { type Cedar, loadCedar } from "./cedar-wasm.ts";
import { describeCondition } from "./describe-condition.ts";
import type { LoadedPolicySet } from "./load-policy-set.ts";
import type { LoadedRule } from "./read-rules.ts";
import { createCedarWasmEngine } from "./cedar-wasm-engine.ts";

/**
 * Explains how each rule whose scope matches evaluated a request: whether it matched, or which of its conditions
 * failed. Conditions joined with `&&` are evaluated separately.
 */
export async function explainRules(
  set: Pick<LoadedPolicySet, "rules" | "policies">,
  schema: PolicySchema,
  request: CedarRequest,
): Promise<RuleFinding[]> {
  const { parts, engine } = await explainerOf(set, schema);
  const held = evaluateParts(engine, request);
  const byRule = Map.groupBy(parts, (part) => part.rule);
  return set.rules.flatMap((rule, index) => {
    const own = byRule.get(index) ?? [];
    if (!own.some(({ id, kind }) => kind === "scope" && held.matched.has(id))) return [];
    return [findingOf(rule, own, held, request)];
  });
}

interface Explainer {
  readonly parts: readonly RulePart[];
  readonly engine: CedarEngine;
}

/** Keyed weakly by the set's policies. */
const explainers = new WeakMap<object, Promise<Explainer>>();

/**
 * Creates one engine for all parts of all rules: each part is a permit rule of its own that matches if the part holds.
 */
function explainerOf(set: Pick<LoadedPolicySet, "policies">, schema: PolicySchema): Promise<Explainer> {
  const known = explainers.get(set.policies);
  if (known !== undefined) return known;
  const created = loadCedar().then(async (cedar) => {
    const parts = set.policies.flatMap((policy, index) => partsOf(cedar, policy, index));
    return { parts, engine: await createCedarWasmEngine({ rules: parts }, schema, "explain") };
  });
  explainers.set(set.policies, created);
  created.catch(() => explainers.delete(set.policies));
  return created;
}

interface RulePart {
  readonly id: string;
  /** Index of its rule in the set. */
  readonly rule: number;
  readonly kind: "scope" | "condition";
  /** Text shown to people. */
  readonly shown: string;
  /** The condition of the part; undefined for a scope. */
  readonly clause: Clause | undefined;
  readonly text: string;
}

interface MatchedParts {
  readonly matched: ReadonlySet<string>;
  readonly errors: ReadonlyMap<string, string>;
}

function partsOf(cedar: Cedar, { json }: CedarPolicy, rule: number): RulePart[] {
  const policy = { ...(json as unknown as PolicyJson), effect: "permit" as const, annotations: {} };
  const part = (kind: RulePart["kind"], conditions: Clause[], number: number): RulePart => ({
    id: `${rule}.${number}`,
    rule,
    kind,
    clause: conditions[0],
    shown: textOf(cedar, { ...policy, principal: ALL, action: ALL, resource: ALL, conditions }).replace(SCOPE, ""),
    text: textOf(cedar, { ...policy, conditions }),
  });
  const conditions = policy.conditions.flatMap(conjunctsOf);
  return [part("scope", [], 0), ...conditions.map((clause, index) => part("condition", [clause], index + 1))];
}

const ALL = { op: "All" } as const;
const SCOPE = /^permit\s*\(\s*principal\s*,\s*action\s*,\s*resource\s*\)\s*|;\s*$/g;

/** `unless` cannot be split: it holds or fails as a whole. */
function conjunctsOf(clause: Clause): Clause[] {
  if (clause.kind === "unless") return [clause];
  const conjuncts = (body: Expr): Expr[] =>
    "&&" in body ? Object.values(body["&&"] as { left: Expr; right: Expr }).flatMap(conjuncts) : [body];
  return conjuncts(clause.body).map((body) => ({ kind: "when", body }));
}

function textOf(cedar: Cedar, policy: PolicyJson): string {
  const answer = cedar.policyToText(policy);
  return answer.type === "success" ? answer.text : "";
}

function evaluateParts(engine: CedarEngine, request: CedarRequest): MatchedParts {
  const { rules, errors } = engine.evaluate(request);
  return { matched: new Set(rules), errors: new Map(errors.map(({ rule, message }) => [rule, message])) };
}

function findingOf(
  { id, effect, file, line }: LoadedRule,
  parts: readonly RulePart[],
  held: MatchedParts,
  { context }: CedarRequest,
): RuleFinding {
  // A condition after a failed one may be an error only because nothing guards it here, so only the first failure
  // decides.
  const failed = parts.filter((part) => !held.matched.has(part.id));
  const [first] = failed;
  const isError = first !== undefined && held.errors.has(first.id);
  const verdict = first === undefined ? "matched" : isError ? "error" : "almost";
  if (isError) {
    const because = [`${first.shown}: ${held.errors.get(first.id) ?? ""}`];
    return { id, effect, verdict, because, unmet: because, file, line };
  }
  const sound = failed.filter((part) => !held.errors.has(part.id));
  const unmet = sound.map(({ shown, clause }) => (clause && describeCondition(clause, context)) ?? shown);
  return { id, effect, verdict, because: sound.map(({ shown }) => shown), unmet, file, line };
}

import type { Policy } from "../ports.ts";
import type { CedarEngine, CedarPolicy, CedarRequest } from "./cedar/cedar.ts";
import type { RuleFinding } from "./explain.ts";
import { isPermitted } from "./is-permitted.ts";
import type { PolicyEvaluation, PolicyRule, PolicySet } from "./policy.ts";
import { permittedActions } from "./schema/permitted-actions.ts";
import type { PolicySchema } from "./schema/read-policy-schema.ts";

/** A policy set that was read and validated, and the engine that evaluates it. */
export interface LoadedPolicy {
  readonly set: PolicySet;
  readonly rules: readonly PolicyRule[];
  readonly policies: readonly CedarPolicy[];
  readonly schema: PolicySchema;
  readonly engine: CedarEngine;
  explain(request: CedarRequest): Promise<readonly RuleFinding[]>;
}

const NOTHING: readonly never[] = Object.freeze([]);

/** Creates the policy for a loaded set. */
export function createPolicy(loaded: LoadedPolicy): Policy {
  const { set, rules, policies, schema, engine } = loaded;
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const permitted = permittedActions(policies, schema);
  const ruleOf = (id: string): PolicyRule =>
    byId.get(id) ?? { id, approve: "human", overrides: NOTHING, rationale: undefined, message: undefined };
  return {
    current: set,
    couldPermit: (action) => permitted.has(action),
    visibleInput: (action, input) => schema.visibleInput(action, input),
    explain: (request) => loaded.explain(request),
    /**
     * SECURITY: any error denies, where Cedar itself would skip the rule. A missing fact is an error too, so a request
     * cannot satisfy a rule or avoid a forbid by leaving a fact out.
     */
    evaluate(request): PolicyEvaluation {
      const missing = schema.findMissing(request);
      if (missing !== undefined) return refuse(`the request has no \`${missing}\` that the policy was checked with`);
      const answer = engine.evaluate(request);
      return {
        allowed: isPermitted(answer),
        rules: answer.rules.map(ruleOf),
        errors: answer.errors,
      };
    },
  };
}

/** The policy for a set that could not be loaded: denies everything and states the problem. */
export function createNoPolicy(problem: string): Policy {
  return {
    current: { problem },
    couldPermit: () => false,
    visibleInput: () => ({}),
    evaluate: () => refuse(problem),
    explain: () => Promise.resolve([]),
  };
}

function refuse(problem: string): PolicyEvaluation {
  return { allowed: false, rules: NOTHING, errors: [{ rule: "", message: problem }] };
}

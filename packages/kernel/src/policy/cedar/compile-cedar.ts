import { type ActionGroups, closeActionGroups } from "./action-groups.ts";
import type { CedarDecision, CedarEngine, CedarError, CedarPolicy, CedarRequest } from "./cedar.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import { testAction } from "./compile-scope.ts";
import type { SharedExpressions } from "./expression.ts";
import { indexRules } from "./index-rules.ts";
import { expectBoolean } from "./operators/logic.ts";
import { EvaluatedRequest } from "./evaluated-request.ts";
import { UnsupportedError } from "./unsupported-error.ts";

/** Engine name recorded in proofs. Increase the number when decisions may change. */
export const COMPILED_CEDAR = "narthex-cedar/1";

export type CompiledCedar =
  | { readonly engine: CedarEngine; readonly unsupported?: undefined }
  | { readonly engine?: undefined; readonly unsupported: UnsupportedFeature };

/** The first unsupported feature of a set, which another engine has to evaluate. */
export interface UnsupportedFeature {
  readonly rule: string;
  readonly message: string;
}

/**
 * Compiles a policy set from Cedar's JSON form to closures, indexed by action. Decisions follow Cedar's semantics:
 * without a satisfied rule the request is denied, a forbid overrides every permit, and a rule with an error does not
 * count.
 */
export function compileCedar(policies: readonly CedarPolicy[], groups: ActionGroups = new Map()): CompiledCedar {
  const rules = new Map<string, CompiledRule>();
  const shared: SharedExpressions = new Map();
  for (const policy of policies) {
    try {
      if (rules.has(policy.id)) throw new UnsupportedError("two rules have this id");
      rules.set(policy.id, compileRule(policy, shared));
    } catch (fault) {
      if (!(fault instanceof UnsupportedError)) throw fault;
      return { unsupported: { rule: policy.id, message: fault.message } };
    }
  }
  // Sorting once here means that decisions rarely need sorting.
  const sorted = [...rules.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
  return { engine: createEngine(sorted, groups) };
}

function createEngine(rules: readonly CompiledRule[], groups: ActionGroups): CedarEngine {
  const ancestors = closeActionGroups(groups);
  const { general, forAction } = indexRules(rules, ancestors);
  return {
    name: COMPILED_CEDAR,
    evaluate(request: CedarRequest): CedarDecision {
      const frame = new EvaluatedRequest(request, ancestors);
      const tally = new Tally();
      if (frame.describesActions()) {
        tally.take(
          rules.filter(({ actionScope }) => testAction(actionScope, frame)),
          frame,
        );
      } else {
        tally.take(forAction(request.action), frame);
        tally.take(general, frame);
      }
      return tally.decision();
    },
  };
}

const NO_RULES: readonly string[] = [];
const NO_ERRORS: readonly CedarError[] = [];

/** Collects the results of the rules. Allocates only for rules that matched or failed. */
class Tally {
  #permits: string[] | undefined;
  #forbids: string[] | undefined;
  #errors: CedarError[] | undefined;

  take(rules: readonly CompiledRule[], request: EvaluatedRequest): void {
    for (const rule of rules) {
      try {
        if (!expectBoolean(rule.evaluate(request))) continue;
        if (rule.isForbid) (this.#forbids ??= []).push(rule.id);
        else (this.#permits ??= []).push(rule.id);
      } catch (fault) {
        // SECURITY: every exception is recorded, even if it is not a Cedar error: a rule is never silently skipped.
        (this.#errors ??= []).push({ rule: rule.id, message: messageOf(fault) });
      }
    }
  }

  decision(): CedarDecision {
    return {
      allowed: this.#permits !== undefined && this.#forbids === undefined,
      rules: inOrder(this.#forbids ?? this.#permits ?? NO_RULES),
      errors: this.#errors?.sort((left, right) => (left.rule < right.rule ? -1 : 1)) ?? NO_ERRORS,
    };
  }
}

/** Sorts only if necessary: two concatenated sorted lists are often in order already. */
function inOrder(ids: readonly string[]): readonly string[] {
  let last = "";
  for (const id of ids) {
    if (id < last) return ids.toSorted();
    last = id;
  }
  return ids;
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : "the rule could not be evaluated";
}

import { type ActionGroups, closeActionGroups } from "./action-groups.ts";
import type { CedarDecision, CedarEngine, CedarError, CedarPolicy, CedarRequest } from "./cedar.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import { testAction } from "./compile-scope.ts";
import type { SharedExpressions } from "./expression.ts";
import { indexRules } from "./index-rules.ts";
import { expectBoolean } from "./operators/logic.ts";
import { EvaluatedRequest } from "./evaluated-request.ts";
import { UnsupportedError } from "./unsupported-error.ts";

/** Named in proofs: another number where the answers may differ. */
export const COMPILED_CEDAR = "narthex-cedar/1";

export type CompiledCedar =
  | { readonly engine: CedarEngine; readonly unsupported?: undefined }
  | { readonly engine?: undefined; readonly unsupported: UnsupportedFeature };

/** The first thing in a set that another engine has to evaluate. */
export interface UnsupportedFeature {
  readonly rule: string;
  readonly message: string;
}

/**
 * Compiles a policy set from Cedar's JSON form to closures, indexed by action. Answers are Cedar's own: nothing
 * satisfied denies, a forbid beats every permit, and a rule with an error determines nothing.
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
  // Sorted once here, so that answers seldom have to be.
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

/** What the rules said so far. Nothing is allocated for what no rule said. */
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
        // SECURITY: whatever is thrown, also what is no error of Cedar's, is told: a rule is never silently left out.
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

/** Two sorted lists, one after the other, are often in order already. */
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

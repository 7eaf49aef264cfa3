import type { Rule, Violation } from "@narthex/contracts";
import { policyInvalid } from "@narthex/kernel";

/** What is wrong with a policy set, each thing at its place. */
export interface PolicyProblems {
  /** `place` is `file:line:column`, or empty for the whole set. */
  add(place: string, rule: Rule, message: string): void;
  readonly count: number;
  /** Throws POLICY_INVALID with all of them, if there are any. */
  throwIfAny(): void;
}

/** A policy with more mistakes than this is not being corrected by anyone. */
const MAX_VIOLATIONS = 100;

export function createPolicyProblems(): PolicyProblems {
  const violations: Violation[] = [];
  let count = 0;
  return {
    add(place, rule, message) {
      count++;
      if (violations.length < MAX_VIOLATIONS) violations.push({ field: place, rule, message });
    },
    get count() {
      return count;
    },
    throwIfAny() {
      if (violations.length > 0) throw policyInvalid(violations);
    },
  };
}

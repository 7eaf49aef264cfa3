import type { Rule, Violation } from "@narthex/contracts";
import { policyInvalid } from "@narthex/kernel";

/** Collects the problems of a policy set, each with its position. */
export interface PolicyProblems {
  /** `place` is `file:line:column`, or empty for the whole set. */
  add(place: string, rule: Rule, message: string): void;
  readonly count: number;
  /** Throws POLICY_INVALID with all problems, if there are any. */
  throwIfAny(): void;
}

/** Maximum number of violations reported; longer lists help no one. */
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

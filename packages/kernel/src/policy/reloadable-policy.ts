import type { Policy } from "../ports.ts";
import { allowListPolicy } from "./allow-list-policy.ts";
import type { PolicySet } from "./policy.ts";
import type { PolicyFile } from "./policy-file.ts";
import { policySetFrom } from "./policy-set.ts";

export interface ReloadablePolicy extends Policy {
  /** Puts a new set in force, or throws POLICY_INVALID and leaves everything as it was. */
  replace(files: readonly PolicyFile[]): PolicySet;
}

/**
 * INVARIANT: `current` and `evaluate` always speak of the same set. Who needs both for one decision reads them
 * without waiting in between.
 */
export function createReloadablePolicy(initial: Policy): ReloadablePolicy {
  let policy = initial;
  return {
    get current() {
      return policy.current;
    },
    evaluate: (request) => policy.evaluate(request),
    replace(files) {
      const next = policySetFrom(files);
      policy = allowListPolicy(next);
      return next.set;
    },
  };
}

import type { Policy } from "../ports.ts";

export interface ReloadablePolicy extends Policy {
  /** Replaces the policy, at once and as a whole. */
  replace(next: Policy): void;
}

/**
 * INVARIANT: each call is served by a single policy. A caller that needs several evaluations for one decision makes
 * them without awaiting in between.
 */
export function createReloadablePolicy(initial: Policy): ReloadablePolicy {
  let policy = initial;
  return {
    get current() {
      return policy.current;
    },
    evaluate: (request) => policy.evaluate(request),
    couldPermit: (action) => policy.couldPermit(action),
    visibleInput: (action, input) => policy.visibleInput(action, input),
    explain: (request) => policy.explain(request),
    replace(next) {
      policy = next;
    },
  };
}

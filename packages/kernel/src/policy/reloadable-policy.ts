import type { Policy } from "../ports.ts";

export interface ReloadablePolicy extends Policy {
  /** Puts another one in force, at once and as a whole. */
  replace(next: Policy): void;
}

/**
 * INVARIANT: everything asked of it is answered by one and the same set. Who needs several answers for one decision asks
 * without waiting in between.
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

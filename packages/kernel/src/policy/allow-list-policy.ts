import { isKernelError } from "@narthex/contracts";
import type { Policy } from "../ports.ts";
import type { PolicyAnswer } from "./policy.ts";
import type { PolicyFile } from "./policy-file.ts";
import { type AllowList, NO_POLICY, policySetFrom } from "./policy-set.ts";

const NOTHING_MATCHED: PolicyAnswer = Object.freeze({
  allowed: false,
  rules: Object.freeze([]),
  errors: Object.freeze([]),
});

/** A policy from its files. Files that cannot be used make one that denies everything and says why. */
export function createAllowListPolicy(files: readonly PolicyFile[]): Policy {
  if (files.length === 0) return denyEverything(NO_POLICY);
  try {
    return allowListPolicy(policySetFrom(files));
  } catch (error) {
    if (isKernelError(error)) return denyEverything(error.message);
    throw error;
  }
}

/** INVARIANT: default deny; an action is allowed only by a rule that names it. Nothing is made per call. */
export function allowListPolicy({ set, answers }: AllowList): Policy {
  return { current: set, evaluate: (request) => answers.get(request.action) ?? NOTHING_MATCHED };
}

function denyEverything(problem: string): Policy {
  const answer: PolicyAnswer = Object.freeze({
    allowed: false,
    rules: Object.freeze([]),
    errors: Object.freeze([problem]),
  });
  return { current: { problem }, evaluate: () => answer };
}

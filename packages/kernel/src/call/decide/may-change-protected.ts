import type { KernelParts } from "../../kernel-parts.ts";
import { approvalRequirement } from "../../policy/approval-requirement.ts";
import { createPolicyRequest } from "../../policy/policy-checks.ts";
import { isPermitted } from "../../policy/is-permitted.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import type { DecidedCall } from "../call.ts";
import { toPolicyInput } from "./evaluate-call.ts";

/** Whether a rule lets the programs of this call change protected paths anywhere, without an approval. */
export function mayChangeProtected(call: DecidedCall, kernel: KernelParts): boolean {
  const { policy } = kernel;
  if ("problem" in policy.current) return false;
  const asked = toPolicyInput(call, call, call.needed, kernel);
  const { request } = createPolicyRequest(
    asked,
    { action: PROTECTED_ACTION, target: { path: ".", writes: true } },
    policy,
  );
  const answer = policy.evaluate(request);
  return isPermitted(answer) && approvalRequirement(answer.rules, call.tier).approve === "none";
}

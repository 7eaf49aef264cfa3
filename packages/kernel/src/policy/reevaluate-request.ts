import { isKernelError, type JsonValue } from "@narthex/contracts";
import type { Policy } from "../ports.ts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { approvalRequirement } from "./approval-requirement.ts";
import { cedarRequest, entitiesOf } from "./cedar-request.ts";
import { toPolicyRefusal } from "./policy-refusal.ts";
import type { StoredPolicyRequest } from "./stored-policy-request.ts";

/** The decision of a policy on a recorded request: deny, allow, or require an approval. */
export interface ReevaluatedDecision {
  readonly kind: "deny" | "allow" | "human" | "console";
  readonly ruleIds: readonly string[];
  /** Denial code; empty when allowed. */
  readonly code: string;
}

/** Why a recorded request cannot be evaluated by this policy. */
export interface NotEvaluated {
  readonly unjudged: "unknown action" | "schema changed";
}

/**
 * Evaluates a recorded request with another policy. If the request lacks facts that the policy's schema requires, or
 * its action is unknown to the policy, returns `NotEvaluated` instead of a denial: the policy makes no statement about
 * it.
 */
export function reevaluateRequest(
  { call, form }: StoredPolicyRequest,
  input: JsonValue,
  policy: Policy,
  isKnownAction: (action: string) => boolean,
): ReevaluatedDecision | NotEvaluated {
  if (!isKnownAction(form.action)) return { unjudged: "unknown action" };
  try {
    const request = cedarRequest(form, entitiesOf(form), call, policy.visibleInput(form.action, input));
    const answer = policy.evaluate(request);
    // No rule failed: the request itself does not fit the schema.
    if (answer.errors.some(({ rule }) => rule === "")) return { unjudged: "schema changed" };
    const ruleIds = answer.rules.map(({ id }) => id);
    const refusal = toPolicyRefusal({ action: form.action }, answer);
    if (refusal !== undefined) return { kind: "deny", ruleIds, code: refusal.code };
    const tier = SAFETY_TIERS.find((known) => known === form.tier) ?? "privileged";
    const { approve } = approvalRequirement(answer.rules, tier);
    return { kind: approve === "none" ? "allow" : approve, ruleIds, code: "" };
  } catch (fault) {
    if (isKernelError(fault) && fault.code === "POLICY_ERROR") return { unjudged: "schema changed" };
    throw fault;
  }
}

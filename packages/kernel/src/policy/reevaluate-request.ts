import { isKernelError, type JsonValue } from "@narthex/contracts";
import type { Policy } from "../ports.ts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { approvalRequirement } from "./approval-requirement.ts";
import { cedarRequest, entitiesOf } from "./cedar-request.ts";
import { toPolicyRefusal } from "./policy-refusal.ts";
import type { StoredPolicyRequest } from "./stored-policy-request.ts";

/** What a policy says to a question: no, yes, or only if a person does too. */
export interface ReevaluatedDecision {
  readonly kind: "deny" | "allow" | "human" | "console";
  readonly ruleIds: readonly string[];
  /** Why not; empty of a yes. */
  readonly code: string;
}

/** Why a question that was recorded cannot be put to this policy. */
export interface NotEvaluated {
  readonly unjudged: "unknown action" | "schema changed";
}

/**
 * Puts a question that was recorded to another policy. A question that lacks what the policy's schema demands, or is about
 * an action that it does not know, is told apart from a refusal: the policy says nothing about it.
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
    // No rule erred: the request itself does not fit.
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

import type { KernelParts } from "../../kernel-parts.ts";
import { approvalDemand } from "../../policy/approval-demand.ts";
import { questionFor } from "../../policy/call-questions.ts";
import { isPermitted } from "../../policy/is-permitted.ts";
import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import type { DecidedCall } from "../call.ts";
import { askedCall } from "./ask-about-call.ts";

/** Whether a rule lets the programs of this call change what is protected, wherever it is, without anyone being asked. */
export function mayChangeProtected(call: DecidedCall, kernel: KernelParts): boolean {
  const { policy } = kernel;
  if ("problem" in policy.current) return false;
  const asked = askedCall(call, call, call.needed, kernel);
  const { request } = questionFor(asked, { action: PROTECTED_ACTION, target: { path: ".", writes: true } }, policy);
  const answer = policy.evaluate(request);
  return isPermitted(answer) && approvalDemand(answer.rules, call.tier).approve === "none";
}

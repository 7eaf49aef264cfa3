import { PROTECTED_ACTION } from "../../policy/protected-action.ts";
import { approvalDemand } from "../../policy/approval-demand.ts";
import { questionAbout } from "./question-about.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { DecidedCall } from "../call.ts";

/** Whether a rule lets the programs of this call change what is protected, wherever it is, without anyone being asked. */
export function mayChangeProtected(call: DecidedCall, kernel: KernelParts): boolean {
  if ("problem" in kernel.policy.current) return false;
  const { effects, tier, determinism, timeoutMs } = call;
  const facts = { effects, tier, determinism, timeoutMs, action: PROTECTED_ACTION };
  const { request } = questionAbout({ call, facts, needed: call.needed, target: { path: ".", writes: true } }, kernel);
  const answer = kernel.policy.evaluate(request);
  return answer.allowed && answer.errors.length === 0 && approvalDemand(answer.rules, tier) === "none";
}

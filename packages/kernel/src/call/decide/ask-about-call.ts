import type { Capability } from "../../capability/capability.ts";
import type { NarrowedTool } from "../../tool/narrow-for.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { CheckedCall, DecidedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import { askPolicy } from "./ask-policy.ts";
import { findProtected, PROTECTED_ACTION } from "./protected-paths.ts";

type PolicyWord = Pick<DecidedCall, "policyAnswer" | "policyHash" | "approval">;

const STRICTNESS = ["none", "human", "console"] as const;

/** Asks policy about the call, and about a protected path if it writes one: both must permit, the stricter door counts. */
export function askAboutCall(
  call: CheckedCall,
  facts: NarrowedTool,
  needed: readonly Capability[],
  kernel: KernelParts,
): PolicyWord | Denied {
  const path = findProtected(call, needed, kernel);
  const answer = askPolicy(call, facts, kernel);
  if (path === undefined || answer instanceof Denied) return answer;
  const second = askPolicy(call, { ...facts, action: PROTECTED_ACTION }, kernel);
  if (second instanceof Denied) {
    const message = `\`${path}\` is protected: ${second.message}`;
    return new Denied(second.rationaleCode, second.ruleId, message);
  }
  const strictest = Math.max(STRICTNESS.indexOf(answer.approval), STRICTNESS.indexOf(second.approval));
  return { ...answer, approval: STRICTNESS[strictest] ?? "console" };
}

import type { ToolSource } from "../tool/tool.ts";
import { isPermitted } from "./is-permitted.ts";
import type { PolicyAnswer } from "./policy.ts";
import { PROTECTED_ACTION } from "./protected-action.ts";

/** Why policy says no, for a program, for the ledger and for people. */
export interface PolicyRefusal {
  readonly code: string;
  readonly ruleId: string;
  readonly message: string;
}

/**
 * Undefined if it says yes. Nothing matched means no, and so does any error. `source` is that of the tool: about one that is
 * no part of Narthex, the rule to write is shown.
 */
export function refusalOf(
  action: string,
  answer: PolicyAnswer,
  source: ToolSource = "builtin",
): PolicyRefusal | undefined {
  const [rule] = answer.rules;
  const [error] = answer.errors;
  if (error !== undefined) {
    const where = error.rule === "" ? "" : `rule \`${error.rule}\`: `;
    const message = `policy could not be evaluated, so it denies: ${where}${error.message}`;
    return { code: "POLICY_ERROR", ruleId: rule?.id ?? "kernel:decide", message };
  }
  if (isPermitted(answer)) return undefined;
  if (rule === undefined) {
    const isOwn = source !== "builtin" && action !== PROTECTED_ACTION;
    const message = `no rule permits \`${action}\`; add one to the policy directory${isOwn ? ruleToAdd(action) : ""}`;
    return { code: "NO_MATCHING_RULE", ruleId: "kernel:decide", message };
  }
  const message = rule.message ?? `rule \`${rule.id}\` forbids \`${action}\``;
  return { code: rule.rationale ?? "POLICY_DENIED", ruleId: rule.id, message };
}

/** Names of tools are small letters, digits and `_`: they need no quoting. */
function ruleToAdd(action: string): string {
  const rule = `@id("ask-${action.replaceAll("_", "-")}") @approve("human") permit(principal, action == Action::"${action}", resource);`;
  return ` or to \`policies\` of createKernel: ${rule}`;
}

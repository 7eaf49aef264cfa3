import { quotePlace } from "../capability/quote-text.ts";
import type { ToolSource } from "../tool/tool.ts";
import { isPermitted } from "./is-permitted.ts";
import type { PolicyEvaluation } from "./policy.ts";
import type { PolicyTarget } from "./policy-target.ts";
import { PROTECTED_ACTION } from "./protected-action.ts";

/** Why policy denied a request: a code for programs, a rationale for the ledger and a message for people. */
export interface PolicyRefusal {
  readonly code: string;
  readonly ruleId: string;
  readonly message: string;
}

/** The denied request, for the message. */
export interface RefusedSubject {
  readonly action: string;
  /** The path or host of the policy request. */
  readonly target?: PolicyTarget;
  /** Source of the tool. For a tool that is not part of Narthex, the message shows the rule to add. */
  readonly source?: ToolSource;
}

/** The refusal for a policy decision; undefined if policy permits. No matching rule denies, and so does any error. */
export function toPolicyRefusal(
  { action, target = {}, source = "builtin" }: RefusedSubject,
  answer: PolicyEvaluation,
): PolicyRefusal | undefined {
  const [rule] = answer.rules;
  const [error] = answer.errors;
  if (error !== undefined) {
    const where = error.rule === "" ? "" : `rule \`${error.rule}\`: `;
    const message = `policy could not be evaluated, so it denies: ${where}${error.message}`;
    return { code: "POLICY_ERROR", ruleId: rule?.id ?? "kernel:decide", message };
  }
  if (isPermitted(answer)) return undefined;
  const [before, place] = describePlace(action, target);
  if (rule === undefined) {
    const isOwn = source !== "builtin" && action !== PROTECTED_ACTION;
    const message = `${before}no rule permits \`${action}\`${place}${isOwn ? ruleToAdd(action) : ""}`;
    return { code: "NO_MATCHING_RULE", ruleId: "kernel:decide", message };
  }
  const told = rule.message ?? `rule \`${rule.id}\` forbids \`${action}\``;
  return { code: rule.rationale ?? "POLICY_DENIED", ruleId: rule.id, message: `${before}${told}${place}` };
}

/**
 * The parts of a message that describe the path or host, before and after the action.
 *
 * SECURITY: the agent chose these texts; they are quoted and truncated like any text of its own.
 */
function describePlace(action: string, { path, host }: PolicyTarget): readonly [string, string] {
  if (action === PROTECTED_ACTION) return [`${quotePlace(path ?? ".")} is protected: `, ""];
  const onPath = path === undefined || path === "." ? "" : ` on ${quotePlace(path)}`;
  return ["", host === undefined ? onPath : `${onPath} with ${quotePlace(host)}`];
}

/** Tool names consist of lowercase letters, digits and `_`, so they need no quoting. */
function ruleToAdd(action: string): string {
  const rule = `@id("ask-${action.replaceAll("_", "-")}") @approve("human") permit(principal, action == Action::"${action}", resource);`;
  return `; add one to the policy directory or to \`policies\` of createKernel: ${rule}`;
}

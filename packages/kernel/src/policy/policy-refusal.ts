import { quotePlace } from "../capability/quote-text.ts";
import type { ToolSource } from "../tool/tool.ts";
import { isPermitted } from "./is-permitted.ts";
import type { PolicyEvaluation } from "./policy.ts";
import type { PolicyTarget } from "./policy-target.ts";
import { PROTECTED_ACTION } from "./protected-action.ts";

/** Why policy says no, for a program, for the ledger and for people. */
export interface PolicyRefusal {
  readonly code: string;
  readonly ruleId: string;
  readonly message: string;
}

/** What was refused, for the message. */
export interface RefusedSubject {
  readonly action: string;
  /** The path or the host that policy was asked about. */
  readonly target?: PolicyTarget;
  /** Of the tool: about one that is no part of Narthex, the rule to write is shown. */
  readonly source?: ToolSource;
}

/** Undefined if policy permits it. Nothing matched means no, and so does any error. */
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
 * What a message says of the path or the host, in front and behind.
 *
 * SECURITY: the agent chose them; they are quoted and cut like any text of its own.
 */
function describePlace(action: string, { path, host }: PolicyTarget): readonly [string, string] {
  if (action === PROTECTED_ACTION) return [`${quotePlace(path ?? ".")} is protected: `, ""];
  const onPath = path === undefined || path === "." ? "" : ` on ${quotePlace(path)}`;
  return ["", host === undefined ? onPath : `${onPath} with ${quotePlace(host)}`];
}

/** Names of tools are small letters, digits and `_`: they need no quoting. */
function ruleToAdd(action: string): string {
  const rule = `@id("ask-${action.replaceAll("_", "-")}") @approve("human") permit(principal, action == Action::"${action}", resource);`;
  return `; add one to the policy directory or to \`policies\` of createKernel: ${rule}`;
}

import type { PolicyAnswer } from "./policy.ts";

/** Why policy says no, for a program, for the ledger and for people. */
export interface PolicyRefusal {
  readonly code: string;
  readonly ruleId: string;
  readonly message: string;
}

/** Undefined if it says yes. Nothing matched means no, and so does any error. */
export function refusalOf(action: string, answer: PolicyAnswer): PolicyRefusal | undefined {
  const [rule] = answer.rules;
  const [error] = answer.errors;
  if (error !== undefined) {
    const where = error.rule === "" ? "" : `rule \`${error.rule}\`: `;
    const message = `policy could not be evaluated, so it denies: ${where}${error.message}`;
    return { code: "POLICY_ERROR", ruleId: rule?.id ?? "kernel:decide", message };
  }
  if (answer.allowed) return undefined;
  if (rule === undefined) {
    const message = `no rule permits \`${action}\`; add one to the policy directory`;
    return { code: "NO_MATCHING_RULE", ruleId: "kernel:decide", message };
  }
  const message = rule.message ?? `rule \`${rule.id}\` forbids \`${action}\``;
  return { code: rule.rationale ?? "POLICY_DENIED", ruleId: rule.id, message };
}

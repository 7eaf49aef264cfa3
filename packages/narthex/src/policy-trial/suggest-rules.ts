import { fromHex } from "@narthex/contracts";
import { describeScope, toCoveredScope, type RuleSubject, createRuleTextWithId, type Tool } from "@narthex/kernel";
import type { SelectedCall } from "./select-calls.ts";

/** A rule for past calls. */
export interface SuggestedRule {
  readonly id: string;
  readonly text: string;
  /** What it allows beyond the calls it was made from, for people. */
  readonly allows: string;
  /** Names of the calls it was made from. */
  readonly names: readonly string[];
}

export interface Suggestion {
  readonly rules: readonly SuggestedRule[];
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

/** Matches the id line, so that rules which differ only in their ids can be compared. */
const ID_LINE = /^@id\(.*\)\n/;

/**
 * Suggests the narrowest rules that cover these calls: for each call the rule that approving it "as a rule" would have
 * written, without duplicates.
 *
 * SECURITY: if a tool can usually describe similar calls but does not for this one, its input does not tell what
 * actually runs: an interpreter, a wrapper, an expansion, a whole tree. No rule is made of such a call, not even for
 * exactly the same input.
 */
export function suggestRules(
  calls: readonly SelectedCall[],
  tools: readonly Tool[],
  alwaysRules: ReadonlySet<string>,
): Suggestion {
  const byName = new Map(tools.map((tool) => [`${tool.name}@${tool.version}`, tool]));
  const rules = new Map<string, { id: string; text: string; allows: string; names: string[] }>();
  const refused = new Map<string, string>();
  for (const { name, decision } of calls) {
    const { form } = decision.question;
    const tool = byName.get(`${form.tool}@${form.version}`);
    const subject = tool === undefined ? "its tool is not there any more" : toRuleSubject(decision, tool, alwaysRules);
    if (typeof subject === "string") {
      refused.set(name, subject);
      continue;
    }
    const id = `suggested-${name.replaceAll("_", "-")}`;
    const text = createRuleTextWithId(id, subject);
    const key = text.replace(ID_LINE, "");
    const known = rules.get(key);
    if (known === undefined) {
      const allows = describeScope(toCoveredScope(subject.scope, subject.inputDigest));
      const same = rules.values().filter((rule) => rule.id === id || rule.id.startsWith(`${id}-`));
      const count = [...same].length;
      const own = count === 0 ? id : `${id}-${count + 1}`;
      rules.set(key, { id: own, text: createRuleTextWithId(own, subject), allows, names: [name] });
    } else if (!known.names.includes(name)) known.names.push(name);
  }
  return { rules: [...rules.values()], refused: [...refused].map(([name, why]) => ({ name, why })) };
}

function toRuleSubject(
  { question: { form }, input, inputDigest, before }: SelectedCall["decision"],
  tool: Tool,
  alwaysRules: ReadonlySet<string>,
): RuleSubject | string {
  const { agent, action, workspace, directory, labels, source, definition_hash: definition, session, tenant } = form;
  const workingDirectory = directory === "." ? workspace : `${workspace}/${directory}`;
  const toolSession = { id: session, tenant, workspace, workingDirectory };
  const scope = tool.approvalScope?.(input, toolSession);
  if (tool.approvalScope !== undefined && scope === undefined) {
    return "its words do not say all that it runs, so no rule for calls like it can be made; `approvals approve ID --rule` writes one for exactly this call when it is asked about again";
  }
  if (scope?.kind === "host" && scope.host.includes("*")) return "it names no single host";
  const definitionHash = fromHex(definition);
  if (definitionHash === undefined) return "its tool's definition is not recorded";
  return {
    agent,
    action,
    workspace,
    directory,
    labels: [...labels],
    isBuiltin: source === "builtin",
    definitionHash,
    scope,
    inputDigest,
    files: (tool.approvalFiles?.(input, toolSession) ?? []).map((path) => ({ path })),
    always: before.ruleIds.filter((id) => alwaysRules.has(id)),
  };
}

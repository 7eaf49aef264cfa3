import { toHex } from "@narthex/contracts";
import { UNTRUSTED } from "../label/result-labels.ts";
import { joinOverrides } from "../policy/overrides.ts";
import { ABSENT, type ApprovedFile } from "./approved-files.ts";
import type { ApprovalSubject } from "./approval-subject.ts";

/** What a rule is made from. */
export type RuleSubject = Pick<
  ApprovalSubject,
  | "agent"
  | "action"
  | "workspace"
  | "directory"
  | "labels"
  | "isBuiltin"
  | "definitionHash"
  | "scope"
  | "inputDigest"
  | "always"
> & { readonly files: readonly (Pick<ApprovedFile, "path"> & Partial<ApprovedFile>)[] };

export function toRuleId(approvalId: string): string {
  return `approved-${approvalId}`;
}

/**
 * The narrowest rule that would have let the call run without asking: this agent's action in this workspace and directory,
 * carrying no label that the person did not see, with this path or host; where there is none, with exactly this input.
 *
 * SECURITY: every text in it is an agent's. All of it stands in strings, with whatever is not plain escaped, so that no
 * input can end a string and add a rule. Tested by "no input writes a rule of its own".
 */
export function createRuleText(approvalId: string, subject: RuleSubject): string {
  return createRuleTextWithId(toRuleId(approvalId), subject);
}

/** The same under another id. */
export function createRuleTextWithId(ruleId: string, subject: RuleSubject): string {
  const conditions = [
    ...conditionsOf(subject),
    `context.directory == ${toCedarString(subject.directory)}`,
    // SECURITY: a yes to a call that carried nothing is none to the same call once it could carry a secret out.
    labelsAllowed(subject),
    // A tool that is no part of Narthex may become another under its name.
    ...(subject.isBuiltin ? [] : [`context.definition_hash == ${toCedarString(toHex(subject.definitionHash))}`]),
  ];
  return [
    ...subject.files
      .filter(({ state }) => state !== ABSENT)
      .map(({ path }) => `// It does not look at what ${toCedarString(path)} holds.`),
    `@id(${toCedarString(ruleId)})`,
    '@approve("none")',
    ...(subject.always.length === 0 ? [] : [`@overrides(${toCedarString(joinOverrides(subject.always))})`]),
    `permit(principal == Agent::${toCedarString(subject.agent)}, action == Action::${toCedarString(subject.action)},`,
    `  resource == Workspace::${toCedarString(subject.workspace)})`,
    `when { ${conditions.join(" && ")} };`,
    "",
  ].join("\n");
}

/** The text of a question's rule as it is without an id: equal for all calls that the same rule covers. */
export function removeRuleId({ approvalId, ruleText: given }: { approvalId: string; ruleText: string }): string {
  return given.replace(toRuleId(approvalId), "");
}

/** A host's answers make their session untrusted: without that, the rule would be good for one call. */
function labelsAllowed({ labels, scope }: RuleSubject): string {
  const allowed = scope?.kind === "host" ? [...new Set([...labels, UNTRUSTED])].sort() : labels;
  return allowed.length === 0
    ? "context.labels.isEmpty()"
    : `[${allowed.map(toCedarString).join(", ")}].containsAll(context.labels)`;
}

function conditionsOf({ scope, inputDigest }: RuleSubject): string[] {
  const exactly = [`context.input_digest == ${toCedarString(toHex(inputDigest))}`];
  switch (scope?.kind) {
    case "path":
      return [`[${scope.paths.map(toCedarString).join(", ")}].contains(context.path)`];
    case "host":
      return [
        "context has host && context has port && context has sends",
        `context.host == ${toCedarString(scope.host)}`,
        `context.port == ${scope.port}`,
        `context.sends == ${scope.sends}`,
      ];
    case "command":
      // SECURITY: the same line is another command elsewhere and with another input, so the line alone says too little.
      return [...exactly, `context.command.lines == [${toCedarString(scope.line)}]`];
    case undefined:
      return exactly;
  }
}

/** A Cedar string: printable ASCII stands for itself, everything else as `\u{...}`. */
function toCedarString(value: string): string {
  const escaped = value.replace(/[^ !#-[\]-~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return `"${escaped}"`;
}

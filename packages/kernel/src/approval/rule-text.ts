import { toHex } from "@narthex/contracts";
import { UNTRUSTED } from "../label/result-labels.ts";
import { joinOverrides } from "../policy/overrides.ts";
import { ABSENT, type ApprovedFile } from "./approved-files.ts";
import type { ApprovalSubject } from "./approval-subject.ts";

/** The fields from which a rule is made. */
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
 * Creates the narrowest rule that would have permitted the call without asking: this agent's action in this workspace
 * and directory, with no label that the user did not see, and with this path or host; without a path or host, with
 * exactly this input.
 *
 * SECURITY: every text in the rule comes from an agent. All of it is in string literals, in which every character that
 * is not plain is escaped, so no input can end a string and add a rule. Tested by "no input can inject a rule".
 */
export function createRuleText(approvalId: string, subject: RuleSubject): string {
  return createRuleTextWithId(toRuleId(approvalId), subject);
}

/** Creates the same rule with another id. */
export function createRuleTextWithId(ruleId: string, subject: RuleSubject): string {
  const conditions = [
    ...conditionsOf(subject),
    `context.directory == ${toCedarString(subject.directory)}`,
    // SECURITY: approving a call without labels does not approve the same call once it could carry a secret out.
    labelsAllowed(subject),
    // The code behind the name of a tool that is not part of Narthex may change.
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

/** Returns the text of a request's rule without its id: equal for all calls that the same rule covers. */
export function removeRuleId({ approvalId, ruleText: given }: { approvalId: string; ruleText: string }): string {
  return given.replace(toRuleId(approvalId), "");
}

/**
 * Creates the condition on labels. A host's response makes the session untrusted, so a rule for a host permits that
 * label; otherwise it would cover one call only.
 */
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
      // SECURITY: the same line is a different command in another directory or with another input, so the line alone is
      // not enough.
      return [...exactly, `context.command.lines == [${toCedarString(scope.line)}]`];
    case undefined:
      return exactly;
  }
}

/** Creates a Cedar string literal: printable ASCII stays as it is, everything else becomes `\u{...}`. */
function toCedarString(value: string): string {
  const escaped = value.replace(/[^ !#-[\]-~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return `"${escaped}"`;
}

import { toHex } from "@narthex/contracts";
import type { ApprovalSubject } from "./approval-subject.ts";

export function ruleIdOf(approvalId: string): string {
  return `approved-${approvalId}`;
}

/**
 * The narrowest rule that would have let the call run without asking: this action in this workspace, with this command,
 * path or host; where there is none, with exactly this input.
 *
 * SECURITY: every text in it is an agent's. All of it stands in strings, with whatever is not plain escaped, so that no
 * input can end a string and add a rule. Tested by "no input writes a rule of its own".
 */
export function ruleText(approvalId: string, subject: ApprovalSubject): string {
  const conditions = [
    ...conditionsOf(subject),
    // A tool that is no part of Narthex may become another under its name.
    ...(subject.isBuiltin ? [] : [`context.definition_hash == ${text(toHex(subject.definitionHash))}`]),
  ];
  return [
    `@id(${text(ruleIdOf(approvalId))})`,
    '@approve("none")',
    `permit(principal, action == Action::${text(subject.action)}, resource == Workspace::${text(subject.workspace)})`,
    `when { ${conditions.join(" && ")} };`,
    "",
  ].join("\n");
}

function conditionsOf({ scope, inputDigest }: ApprovalSubject): string[] {
  const exactly = [`context.input_digest == ${text(toHex(inputDigest))}`];
  switch (scope?.kind) {
    case "path":
      return [`[${scope.paths.map(text).join(", ")}].contains(context.path)`];
    case "host":
      return [
        `context.host == ${text(scope.host)}`,
        `context.port == ${scope.port}`,
        `context.sends == ${scope.sends}`,
      ];
    case "command":
      // Rules do not see where a command runs.
      if (scope.directory !== "") return exactly;
      return [
        "context.command.literal",
        ...["interpreter", "redirects", "assigns", "background", "changes_directory"].map(
          (fact) => `!context.command.${fact}`,
        ),
        `context.command.network == ${scope.network}`,
        `context.command.lines == [${text(scope.line)}]`,
      ];
    case undefined:
      return exactly;
  }
}

/** A Cedar string: printable ASCII stands for itself, everything else as `\u{...}`. */
function text(value: string): string {
  const escaped = value.replace(/[^ !#-[\]-~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return `"${escaped}"`;
}

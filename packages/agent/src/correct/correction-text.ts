import type { Violation } from "@narthex/contracts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import { describeShape } from "./describe-shape.ts";

/** A model reads all of it with every later turn. */
const MAX_PROBLEMS = 20;

/**
 * What a model is told about a call whose arguments were wrong: every problem, one line each, and what was expected.
 * SPEC: docs/guides/agents.md, wrong arguments.
 */
export function correctionText(problems: readonly string[], decl: FunctionDecl | undefined): string {
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => `Tool execution failed: ${problem}`);
  if (problems.length > MAX_PROBLEMS) lines.push(`and ${problems.length - MAX_PROBLEMS} more problems`);
  if (decl !== undefined) lines.push(`Expected arguments: ${describeShape(decl.parameters)}`);
  return lines.join("\n");
}

/** A broken rule as such a line. `within` is the field of the arguments that holds the tool's input, if it is not all of them. */
export function describeViolation(
  { field, rule, message }: Pick<Violation, "field" | "rule" | "message">,
  within = "",
): string {
  const path = field === "$" || field === "" ? "" : field;
  if (rule === "required" && message.startsWith("missing required field ")) {
    return `${message} in ${joined("arguments", joined(within, parentOf(path)))}`;
  }
  const whole = joined(within, path);
  return whole === "" ? `${message} in arguments` : `field '${whole}' in arguments: ${message}`;
}

function joined(parent: string, child: string): string {
  if (parent === "" || child === "") return parent + child;
  return child.startsWith("[") ? `${parent}${child}` : `${parent}.${child}`;
}

/** `a.b` of `a.b.c`, and nothing of `a`. */
function parentOf(path: string): string {
  return path.replace(/(?:^|\.)[^.[\]]*$|\["[^"]*"\]$/, "").replace(/^\$/, "");
}

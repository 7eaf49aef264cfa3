import type { Violation } from "@narthex/contracts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import { describeShape } from "./describe-shape.ts";

/** Limited because the model reads the whole text again with every later turn. */
const MAX_PROBLEMS = 20;

/**
 * The message to a model about a call with invalid arguments: every problem on its own line, and the expected shape.
 * SPEC: docs/guides/agents.md, wrong arguments.
 */
export function correctionText(problems: readonly string[], decl: FunctionDecl | undefined): string {
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => `Tool execution failed: ${problem}`);
  if (problems.length > MAX_PROBLEMS) lines.push(`and ${problems.length - MAX_PROBLEMS} more problems`);
  if (decl !== undefined) lines.push(`Expected arguments: ${describeShape(decl.parameters)}`);
  return lines.join("\n");
}

/**
 * Formats a violation as such a line. `within` is the argument field that holds the tool's input; empty if the input is
 * the whole of the arguments.
 */
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

/** `a.b` for `a.b.c`, and the empty text for `a`. */
function parentOf(path: string): string {
  return path.replace(/(?:^|\.)[^.[\]]*$|\["[^"]*"\]$/, "").replace(/^\$/, "");
}

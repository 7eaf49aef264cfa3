import type { CallToolResult } from "@modelcontextprotocol/server";
import { describeShape, describeViolation } from "@narthex/agent";
import type { ToolError } from "@narthex/contracts";
import { nearestName, quoteText } from "@narthex/kernel";
import { errorResult } from "./mcp-result.ts";
import type { ToolList } from "./tool-list.ts";

/** Limited, because a model reads all of it again with every later turn. */
const MAX_PROBLEMS = 20;

/**
 * Converts the error of an invalid call to a result for the model: every problem once, and the expected input.
 * Undefined for any other error. SPEC: docs/guides/agents.md, wrong arguments.
 */
export async function toInvalidCallResult(
  { errorCode, message, violations }: ToolError,
  name: string,
  tools: ToolList,
): Promise<CallToolResult | undefined> {
  if (errorCode === "TOOL_NOT_FOUND") return errorResult(unknownToolText(name, await tools.names()));
  const schema = errorCode === "INVALID_INPUT" ? tools.inputSchemaOf(name) : undefined;
  if (schema === undefined) return undefined;
  const problems =
    violations.length === 0 ? [message] : [...new Set(violations.map((violation) => describeViolation(violation)))];
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => `${errorCode}: ${problem}`);
  if (problems.length > MAX_PROBLEMS) lines.push(`and ${problems.length - MAX_PROBLEMS} more problems`);
  return errorResult([...lines, `Expected arguments: ${describeShape(schema)}`].join("\n"));
}

function unknownToolText(name: string, names: readonly string[]): string {
  const near = nearestName(name, names);
  const meant = near === undefined ? "" : `; did you mean \`${near}\`?`;
  return `TOOL_NOT_FOUND: there is no tool ${quoteText(name)}${meant}\nYour tools: ${names.join(", ")}`;
}

import { checkDeclaration, type Tool } from "@narthex/kernel";
import { schemaForTools } from "../policy/assemble-policy.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export interface UsableTools {
  readonly tools: readonly Tool[];
  readonly definitions: readonly ToolDefinition[];
  /** What was left out, and why. */
  readonly problems: readonly string[];
}

/**
 * Those of a server's tools that can be registered: sound declarations without hidden text, with names that no other
 * tool has. Two tools that come to one name are both left out.
 */
export function findUsable(
  definitions: readonly ToolDefinition[],
  make: (definition: ToolDefinition) => Tool,
  taken: ReadonlySet<string>,
): UsableTools {
  const made = definitions.map((definition) => ({ definition, tool: make(definition) }));
  const problems: string[] = [];
  const kept = made.filter(({ tool }) => {
    const isTwice = made.filter((other) => other.tool.name === tool.name).length > 1;
    const problem = isTwice
      ? `${tool.name} would stand for several tools of the server`
      : taken.has(tool.name)
        ? `${tool.name} is another tool's name`
        : problemOf(tool);
    if (problem !== undefined) problems.push(problem);
    return problem === undefined;
  });
  return { tools: kept.map(({ tool }) => tool), definitions: kept.map(({ definition }) => definition), problems };
}

/** SECURITY: what the registry or the policy cannot take would keep the whole kernel from starting. */
function problemOf(tool: Tool): string | undefined {
  try {
    checkDeclaration(tool);
    schemaForTools([tool]);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

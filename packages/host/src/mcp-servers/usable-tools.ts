import { checkDeclaration, type Tool } from "@narthex/kernel";
import { schemaForTools } from "../policy/assemble-policy.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export interface UsableTools {
  readonly tools: readonly Tool[];
  readonly definitions: readonly ToolDefinition[];
  /** Tools that were left out, with the reasons. */
  readonly problems: readonly string[];
}

/**
 * Selects the tools of a server that can be registered: valid declarations without hidden text and with unique names.
 * Two tools that get the same name are both left out.
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

/** SECURITY: a tool that the registry or the policy rejects would prevent the whole kernel from starting. */
function problemOf(tool: Tool): string | undefined {
  try {
    checkDeclaration(tool);
    schemaForTools([tool]);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

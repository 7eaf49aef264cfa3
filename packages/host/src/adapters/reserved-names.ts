import type { Tool } from "@narthex/kernel";

/** Policy actions that are not tools. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(["write_protected"]);
/** Built-in tools that exist only when a provider is configured for them. */
const PROVIDED_TOOLS: ReadonlySet<string> = new Set(["inference", "web_search"]);

/**
 * Returns why an added tool cannot have this name, or undefined if it can.
 *
 * SECURITY: policy permits by name. A tool with the name of a built-in tool, or of one of its operations, would be
 * permitted by a rule written for something else, and a higher version of a built-in tool would replace it.
 */
export function reservedNameProblem(name: string, builtins: readonly Tool[]): string | undefined {
  if (name.includes("__")) return "names with `__` are those of MCP servers' tools";
  if (OTHER_ACTIONS.has(name)) return `\`${name}\` is an action that policy knows already`;
  if (PROVIDED_TOOLS.has(name)) return `\`${name}\` is a built-in tool`;
  for (const builtin of builtins) {
    if (builtin.name === name) return `\`${name}\` is a built-in tool`;
    if (builtin.action !== undefined && name.startsWith(`${builtin.name}_`)) {
      return `names that begin with \`${builtin.name}_\` are operations of the built-in tool ${builtin.name}`;
    }
  }
  return undefined;
}

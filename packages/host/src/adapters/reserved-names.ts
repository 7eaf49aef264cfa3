import type { Tool } from "@narthex/kernel";

/** Actions that policy knows besides the tools. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(["write_protected"]);
/** Built-in tools that are there once somebody is configured for them. */
const PROVIDED_TOOLS: ReadonlySet<string> = new Set(["inference", "web_search"]);

/**
 * Why an added tool cannot have this name; undefined if it can.
 *
 * SECURITY: policy permits by name. A tool named like a built-in one, or like an operation of one, would be permitted by
 * a rule that was written for something else, and a higher version of a built-in tool would take its place.
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

import type { Tool } from "./tool.ts";

const prevalidated = new WeakSet<Tool>();

/**
 * For tools whose declarations are checked by the tests of the package that they come in: a kernel that registers them
 * looks at their schemas when they are first called, not at every start.
 */
export function markPrevalidated<T extends readonly Tool[]>(tools: T): T {
  for (const tool of tools) prevalidated.add(tool);
  return tools;
}

export function isPrevalidated(tool: Tool): boolean {
  return prevalidated.has(tool);
}

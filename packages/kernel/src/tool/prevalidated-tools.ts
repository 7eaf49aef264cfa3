import type { Tool } from "./tool.ts";

const prevalidated = new WeakSet<Tool>();

/**
 * Marks tools whose declarations are checked by the tests of their package. A kernel compiles their schemas at the
 * first call instead of at every start.
 */
export function markPrevalidated<T extends readonly Tool[]>(tools: T): T {
  for (const tool of tools) prevalidated.add(tool);
  return tools;
}

export function isPrevalidated(tool: Tool): boolean {
  return prevalidated.has(tool);
}

import type { Tool } from "./tool.ts";

const vouched = new WeakSet<Tool>();

/**
 * For tools whose declarations are checked by the tests of the package that they come in: a kernel that registers them
 * looks at their schemas when they are first called, not at every start.
 */
export function vouchFor<T extends readonly Tool[]>(tools: T): T {
  for (const tool of tools) vouched.add(tool);
  return tools;
}

export function isVouchedFor(tool: Tool): boolean {
  return vouched.has(tool);
}

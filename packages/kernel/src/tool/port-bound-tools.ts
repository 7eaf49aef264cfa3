import type { Tool } from "./tool.ts";

const portBound = new WeakSet<Tool>();

/**
 * Marks a tool that changes things only through the ports of its context. For these the kernel observes whether an
 * effect has begun; for all others it assumes one as soon as they run.
 */
export function bindToPorts<T extends Tool>(tool: T): T {
  portBound.add(tool);
  return tool;
}

export function isPortBound(tool: Tool): boolean {
  return portBound.has(tool);
}

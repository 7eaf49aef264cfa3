import type { Tool } from "./tool.ts";

const portBound = new WeakSet<Tool>();

/**
 * For tools that change things only through the ports of their context. Of these the kernel sees itself whether an effect
 * was begun; of all others it is assumed as soon as they run.
 */
export function bindToPorts<T extends Tool>(tool: T): T {
  portBound.add(tool);
  return tool;
}

export function isPortBound(tool: Tool): boolean {
  return portBound.has(tool);
}

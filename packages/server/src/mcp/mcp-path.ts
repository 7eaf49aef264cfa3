export const MCP_PATH = "/mcp";
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"]);

/** Whether a path belongs to MCP. */
export function isMcpPath(path: string): boolean {
  return path === MCP_PATH;
}

export function isMcpMethod(method: string): boolean {
  return METHODS.has(method);
}

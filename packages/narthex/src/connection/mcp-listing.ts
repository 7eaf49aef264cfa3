import { loadConfiguration } from "@narthex/host/configuration";
import { homePaths } from "@narthex/host/home-paths";
import type { McpStdioOptions } from "@narthex/server";

/** Reads a home's configuration of the tool list and the instructions for MCP clients. */
export async function readMcpOptions(home: string): Promise<Pick<McpStdioOptions, "toolSet" | "approvalWaitMs">> {
  const { mcp, timeouts } = await loadConfiguration(homePaths(home).configuration);
  return { toolSet: mcp.tools, approvalWaitMs: timeouts.approvalWaitMs };
}

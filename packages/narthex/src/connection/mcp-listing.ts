import { loadConfiguration } from "@narthex/host/configuration";
import { homePaths } from "@narthex/host/home-paths";
import type { McpStdioOptions } from "@narthex/server";

/** What a home's configuration says of the list of tools and of the instructions that MCP clients get. */
export async function readMcpOptions(home: string): Promise<Pick<McpStdioOptions, "toolSet" | "approvalWaitMs">> {
  const { mcp, timeouts } = await loadConfiguration(homePaths(home).configuration);
  return { toolSet: mcp.tools, approvalWaitMs: timeouts.approvalWaitMs };
}

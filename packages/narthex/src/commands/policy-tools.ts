import { homePaths, loadAddedTools, loadConfiguration, schemaForTools } from "@narthex/host";
import type { PolicySchema, Tool } from "@narthex/kernel";
import { createConfiguredBuiltins } from "../configured-builtins.ts";
import { describeEndpoint } from "../endpoint-tools.ts";
import { readPinnedHomeTools } from "../home-mcp-servers.ts";

/** What the rules of a home are checked against, read without locking the home. */
export interface PolicyTools {
  /** Built-in tools, added tools and tools of MCP servers. */
  readonly tools: readonly Tool[];
  /** Schema of these tools and of the currently unusable ones, as a kernel of this home has it. */
  readonly schema: PolicySchema;
  readonly protectedPaths: readonly string[];
}

export async function readPolicyTools(home: string): Promise<PolicyTools> {
  const paths = homePaths(home);
  const configuration = await loadConfiguration(paths.configuration);
  const { protectedPaths } = configuration;
  const builtins = createConfiguredBuiltins(configuration);
  // No tool runs here, so none gets its secrets.
  const { tools: added, unusable } = await loadAddedTools({
    directory: paths.tools,
    secrets: new Map(),
    environment: {},
    builtins,
    createEndpointTool: describeEndpoint,
    taken: new Set(),
  });
  const tools = [...builtins, ...added, ...(await readPinnedHomeTools(paths))];
  return { tools, schema: schemaForTools(tools, unusable), protectedPaths };
}

import { homePaths, loadAddedTools, loadConfiguration, schemaForTools } from "@narthex/host";
import type { PolicySchema, Tool } from "@narthex/kernel";
import { createConfiguredBuiltins } from "../configured-builtins.ts";
import { describeEndpoint } from "../endpoint-tools.ts";
import { readPinnedHomeTools } from "../home-mcp-servers.ts";

/** What rules of a home are checked against, read without taking the home. */
export interface PolicyTools {
  /** Built-in ones, those that were added and those of MCP servers. */
  readonly tools: readonly Tool[];
  /** Of these and of those that cannot be used now, as a kernel of this home has it. */
  readonly schema: PolicySchema;
  readonly protectedPaths: readonly string[];
}

export async function readPolicyTools(home: string): Promise<PolicyTools> {
  const paths = homePaths(home);
  const configuration = await loadConfiguration(paths.configuration);
  const { protectedPaths } = configuration;
  const builtins = createConfiguredBuiltins(configuration);
  // No tool runs here, so none is given its secrets.
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

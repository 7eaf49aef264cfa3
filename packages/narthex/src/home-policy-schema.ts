import { type HomePaths, listStoredTools, policyTools } from "@narthex/host";
import { type PolicySchema, policySchema } from "@narthex/kernel";
import { builtinTools } from "@narthex/tools";
import { pinnedHomeTools } from "./home-servers.ts";

/** What the rules of a home are checked against where no kernel runs: the built-in tools, those that were added and those of MCP servers. */
export async function homePolicySchema(paths: HomePaths): Promise<PolicySchema> {
  const { tools } = await listStoredTools(paths.tools);
  const known = [...builtinTools(), ...(await pinnedHomeTools(paths))];
  return policySchema([...policyTools(known), ...tools.map(({ declaration }) => ({ declaration }))]);
}

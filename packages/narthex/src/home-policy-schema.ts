import { type HomePaths, listStoredTools, policyTools } from "@narthex/host";
import { type PolicySchema, policySchema } from "@narthex/kernel";
import { builtinTools } from "@narthex/tools";

/** What the rules of a home are checked against where no kernel runs: the built-in tools, and those that were added. */
export async function homePolicySchema(paths: HomePaths): Promise<PolicySchema> {
  const { tools } = await listStoredTools(paths.tools);
  return policySchema([...policyTools(builtinTools()), ...tools.map(({ declaration }) => ({ declaration }))]);
}

import { type AddedTools, type Configuration, type Home, loadAddedTools } from "@narthex/host";
import type { Logger, Tool } from "@narthex/kernel";
import { createConfiguredBuiltins } from "./configured-builtins.ts";
import { createEndpointToolFactory } from "./endpoint-tools.ts";

export interface HomeToolsOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Tools of the embedding program, whose names are taken. */
  readonly tools?: readonly Tool[] | undefined;
  readonly log?: Logger | undefined;
}

/**
 * Loads the tools of a home without those of its MCP servers: the built-in ones and those added with `narthex tools
 * add`.
 */
export async function loadHomeTools(
  home: Home,
  configuration: Configuration,
  options: HomeToolsOptions,
): Promise<AddedTools> {
  const builtins = createConfiguredBuiltins(configuration);
  const { tools, unusable } = await loadHomeAddedTools(home, configuration, options);
  return { tools: [...builtins, ...tools], unusable };
}

/** Loads the programs, modules and endpoints added with `narthex tools add`. */
export function loadHomeAddedTools(
  home: Home,
  configuration: Configuration,
  { environment, tools = [], log }: HomeToolsOptions,
): Promise<AddedTools> {
  return loadAddedTools({
    directory: home.paths.tools,
    secrets: configuration.secrets,
    environment,
    builtins: createConfiguredBuiltins(configuration),
    createEndpointTool: createEndpointToolFactory(configuration, log),
    taken: new Set(tools.map(({ name }) => name)),
    logger: log,
  });
}

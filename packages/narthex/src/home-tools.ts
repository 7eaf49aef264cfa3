import { type AddedTools, type Configuration, type Home, loadAddedTools } from "@narthex/host";
import type { Log, Tool } from "@narthex/kernel";
import { builtinsFor } from "./builtins-for.ts";
import { endpointToolMaker } from "./endpoint-tools.ts";

export interface HomeToolsOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Of a program that brings tools of its own: their names are taken. */
  readonly tools?: readonly Tool[] | undefined;
  readonly log?: Log | undefined;
}

/** The tools of a home without those of its MCP servers: built-in ones, and what `narthex tools add` put there. */
export async function homeTools(
  home: Home,
  configuration: Configuration,
  options: HomeToolsOptions,
): Promise<AddedTools> {
  const builtins = builtinsFor(configuration);
  const { tools, unusable } = await addedTools(home, configuration, options);
  return { tools: [...builtins, ...tools], unusable };
}

/** Programs, modules and endpoints that `narthex tools add` put there. */
export function addedTools(
  home: Home,
  configuration: Configuration,
  { environment, tools = [], log }: HomeToolsOptions,
): Promise<AddedTools> {
  return loadAddedTools({
    directory: home.paths.tools,
    secrets: configuration.secrets,
    environment,
    builtins: builtinsFor(configuration),
    createEndpointTool: endpointToolMaker(configuration, log),
    taken: new Set(tools.map(({ name }) => name)),
    log,
  });
}

import {
  type Configuration,
  type Home,
  type HomePaths,
  loadConfiguration,
  type McpServers,
  type OpenedGate,
  openServers,
  pinsDirectory,
  readPinnedTools,
  type Workshop,
} from "@narthex/host";
import type { Log, Tool } from "@narthex/kernel";
import { builtinsFor } from "./builtins-for.ts";
import { VERSION } from "./version.ts";

/** The MCP servers that the configuration of a home names, with their tools. */
export function openHomeServers(
  { paths }: Home,
  configuration: Configuration,
  { programs, vault }: Workshop,
  { gate }: Pick<OpenedGate, "gate">,
  added: readonly Tool[],
  log: Log | undefined,
): Promise<McpServers> {
  return openServers({
    ...sourcesOf(paths, configuration),
    secrets: configuration.secrets,
    environment: process.env,
    taken: new Set(added.map(({ name }) => name)),
    whyApart: vault?.whyApart,
    programs,
    egress: gate,
    log,
  });
}

/** Their tools as they are pinned, for checking rules where no kernel runs. Nothing is started and no secret read. */
export async function pinnedHomeTools(paths: HomePaths): Promise<Tool[]> {
  const configuration = await loadConfiguration(paths.configuration);
  return await readPinnedTools({
    ...sourcesOf(paths, configuration),
    secrets: new Map(),
    environment: {},
    taken: new Set(),
  });
}

/** What is the same whoever asks. */
export function sourcesOf(paths: HomePaths, configuration: Configuration) {
  const { mcpServers } = configuration;
  return {
    settings: mcpServers,
    kernelHome: paths.home,
    directory: pinsDirectory(paths.home),
    builtins: builtinsFor(configuration),
    version: VERSION,
  };
}

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
  type ToolRuntime,
} from "@narthex/host";
import type { Logger, Tool } from "@narthex/kernel";
import { createConfiguredBuiltins } from "./configured-builtins.ts";
import { VERSION } from "./version.ts";

/** Opens the MCP servers that the configuration of a home names, with their tools. */
export function openHomeMcpServers(
  { paths }: Home,
  configuration: Configuration,
  { programs, vault }: ToolRuntime,
  { gate }: Pick<OpenedGate, "gate">,
  added: readonly Tool[],
  log: Logger | undefined,
): Promise<McpServers> {
  return openServers({
    ...toMcpServerOptions(paths, configuration),
    secrets: configuration.secrets,
    environment: process.env,
    taken: new Set(added.map(({ name }) => name)),
    findVaultConflict: vault?.findConflict,
    programs,
    egress: gate,
    logger: log,
  });
}

/**
 * Reads the pinned tools of the MCP servers, for checking rules where no kernel runs. Starts no server and reads no
 * secret.
 */
export async function readPinnedHomeTools(paths: HomePaths): Promise<Tool[]> {
  const configuration = await loadConfiguration(paths.configuration);
  return await readPinnedTools({
    ...toMcpServerOptions(paths, configuration),
    secrets: new Map(),
    environment: {},
    taken: new Set(),
  });
}

/** Options that are the same for every caller. */
export function toMcpServerOptions(paths: HomePaths, configuration: Configuration) {
  const { mcpServers } = configuration;
  return {
    settings: mcpServers,
    kernelHome: paths.home,
    directory: pinsDirectory(paths.home),
    builtins: createConfiguredBuiltins(configuration),
    version: VERSION,
  };
}

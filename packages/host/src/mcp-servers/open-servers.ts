import { definitionHash, redactText, type SessionShells, type Tool } from "@narthex/kernel";
import { inspectionOnlyTools } from "./inspection-only-tools.ts";
import { listServerTools } from "./list-server-tools.ts";
import { readPins, type ServerPins, writePins } from "./pin-store.ts";
import { prepareSources, type SourcesOptions } from "./prepare-sources.ts";
import { Quarantine, type ToolChange } from "./quarantine.ts";
import { createServerTool, type ServerTools } from "./server-tool.ts";
import { ServerPool, type ServerPoolOptions } from "./server-pool.ts";
import { redactorsFor, type ServerPorts, type ServerSource } from "./server-source.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { findUsable } from "./usable-tools.ts";

/** The MCP servers of a home. */
export interface McpServers {
  /** To be registered. */
  readonly tools: readonly Tool[];
  /** Says from now on which tools are not any more what was registered. */
  watch(report: (change: ToolChange) => void): void;
  /** The same shells, and with a session's shells its servers end. */
  endWithShells(shells: SessionShells): SessionShells;
  close(): Promise<void>;
}

export interface ServersOptions extends SourcesOptions, ServerPorts, Pick<ServerPoolOptions, "nowMs" | "idleMs"> {
  /** Where pins are kept. */
  readonly directory: string;
  /** Names of other tools that this kernel has. */
  readonly taken: ReadonlySet<string>;
}

/**
 * Makes tools of what the servers listed when they were first used. A server without pins is started once, to be asked;
 * all others are started when they are first called.
 */
export async function openServers(options: ServersOptions): Promise<McpServers> {
  const { programs, logger } = options;
  const sources = await prepareSources(options);
  const quarantine = new Quarantine(options.directory, logger);
  const pool = new ServerPool({ ...options, onListed: (server, listing) => quarantine.compare(server, listing) });
  const ports: ServerTools = {
    call: (source, call, signal) => pool.call(source, call, signal),
    verify: (name) => quarantine.verify(name),
    pathsIn: (workspace) => programs.pathsAround(workspace, "."),
  };
  const found: OpenedServer[] = [];
  // A few at a time: each has only so long to start.
  for (let from = 0; from < sources.length; from += STARTED_AT_ONCE) {
    const some = sources.slice(from, from + STARTED_AT_ONCE);
    found.push(...(await Promise.all(some.map((source) => openServer(source, ports, options)))));
  }
  for (const { pins, source } of found) {
    if (pins !== undefined) quarantine.expect(pins, (one) => definitionHash(createServerTool(source, one, ports)));
  }
  return {
    tools: found.flatMap(({ tools }) => tools),
    watch: (report) => quarantine.watch(report),
    endWithShells: (shells) => endingWith(shells, pool),
    close: () => pool.close(),
  };
}

/** Those that are pinned, for whoever only has to know them. Starts nothing. */
export async function readPinnedTools(
  options: SourcesOptions & Pick<ServersOptions, "directory" | "taken">,
): Promise<Tool[]> {
  const tools: Tool[] = [];
  for (const source of await prepareSources(options)) {
    const pins = await readPins(options.directory, source.settings.name).catch(() => undefined);
    tools.push(
      ...findUsable(pins?.tools ?? [], (one) => createServerTool(source, one, inspectionOnlyTools), options.taken)
        .tools,
    );
  }
  return tools;
}

const STARTED_AT_ONCE = 4;

interface OpenedServer {
  readonly source: ServerSource;
  readonly pins: ServerPins | undefined;
  readonly tools: readonly Tool[];
}

/** A server that fails costs its own tools, and is said. */
async function openServer(source: ServerSource, ports: ServerTools, options: ServersOptions): Promise<OpenedServer> {
  const { directory, taken, logger } = options;
  const { name } = source.settings;
  const make = (definition: ToolDefinition): Tool => createServerTool(source, definition, ports);
  const say = (problem: string): void =>
    logger?.("error", "an MCP server's tool cannot be used", { server: name, problem });
  try {
    const known = await readPins(directory, name);
    if (known !== undefined) {
      const usable = findUsable(known.tools, make, taken);
      usable.problems.forEach(say);
      return { source, pins: known, tools: usable.tools };
    }
    const listing = await listServerTools(options, source, new AbortController().signal);
    const usable = findUsable([...listing.tools.values()], make, taken);
    [...listing.problems, ...usable.problems].forEach(say);
    const pins = { server: name, tools: usable.definitions };
    await writePins(directory, pins);
    logger?.("info", "the tools of an MCP server were pinned", { server: name, tools: usable.tools.length });
    return { source, pins, tools: usable.tools };
  } catch (fault) {
    // Logs are not redacted by anybody else.
    const problem = redactText(fault instanceof Error ? fault.message : String(fault), redactorsFor(source));
    logger?.("error", "an MCP server cannot be used", { server: name, problem });
    return { source, pins: undefined, tools: [] };
  }
}

function endingWith(shells: SessionShells, pool: ServerPool): SessionShells {
  return {
    backend: () => shells.backend(),
    run: (place, command, signal) => shells.run(place, command, signal),
    spawn: (place, job, signal) => shells.spawn(place, job, signal),
    job: (sessionId, jobId) => shells.job(sessionId, jobId),
    endSession: async (sessionId) => {
      await Promise.all([shells.endSession(sessionId), pool.endSession(sessionId)]);
    },
  };
}

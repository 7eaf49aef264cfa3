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
  /** Tools to be registered. */
  readonly tools: readonly Tool[];
  /** From now on, reports each tool whose definition differs from the registered one. */
  watch(report: (change: ToolChange) => void): void;
  /** Wraps shells so that the servers of a session end together with its shells. */
  endWithShells(shells: SessionShells): SessionShells;
  close(): Promise<void>;
}

export interface ServersOptions extends SourcesOptions, ServerPorts, Pick<ServerPoolOptions, "nowMs" | "idleMs"> {
  /** Directory with the pins. */
  readonly directory: string;
  /** Names of the kernel's other tools. */
  readonly taken: ReadonlySet<string>;
}

/**
 * Creates tools from the definitions that were pinned at the first use. A server without pins is started once, to list
 * its tools; all others are started at their first call.
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
  // Starts only a few at a time, because each must start within a time limit.
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

/** Returns the pinned tools for inspection. Starts no server. */
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

/** If a server fails, only its own tools are left out, and the failure is logged. */
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
    // Nothing else redacts log lines.
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

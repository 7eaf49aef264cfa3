import { canonicalJson, KernelError } from "@narthex/contracts";
import { showText } from "@narthex/kernel";
import { inspectionOnlyTools } from "./inspection-only-tools.ts";
import { listServerTools } from "./list-server-tools.ts";
import { readPins, type ServerPins, writePins } from "./pin-store.ts";
import { type QuarantinedTools, readQuarantine, writeQuarantine } from "./quarantine-store.ts";
import { prepareSources, type SourcesOptions } from "./prepare-sources.ts";
import { createServerTool } from "./server-tool.ts";
import type { ServerPorts, ServerSource } from "./server-source.ts";
import { changedFields, DEFINITION_FIELDS, type ToolDefinition } from "./tool-definition.ts";
import { serverToolName } from "./tool-name.ts";
import { findUsable } from "./usable-tools.ts";

/** How the tools that a server lists now differ from the pinned ones. */
export interface ServerReview {
  readonly server: string;
  readonly differences: readonly ToolDifference[];
  /** Tools that changed earlier and were not trusted since, by their names in this kernel. */
  readonly quarantined: readonly string[];
  /** Listed tools that cannot be used, with the reasons. */
  readonly problems: readonly string[];
  /** The pins if the user approves, exactly as shown. */
  readonly next: ServerPins;
  /** Tools that stay quarantined after an approval, by the server's own names. */
  readonly stillQuarantined: QuarantinedTools;
  readonly directory: string;
}

export interface ToolDifference {
  /** Name of the tool in this kernel. */
  readonly tool: string;
  readonly change: "changed" | "gone" | "new";
  /** Complete values, as text or JSON. Empty for a missing value. */
  readonly fields: readonly { readonly field: string; readonly pinned: string; readonly found: string }[];
}

export interface ReviewOptions extends SourcesOptions, ServerPorts {
  readonly directory: string;
  readonly taken: ReadonlySet<string>;
}

/**
 * Starts a server once and compares its tools with the pinned ones. `asked` is the name of the server or of one of its
 * tools. Throws TOOL_NOT_FOUND.
 */
export async function reviewServer(options: ReviewOptions, asked: string, signal: AbortSignal): Promise<ServerReview> {
  const { directory, taken } = options;
  const source = await findSource(options, asked);
  const { name } = source.settings;
  const listing = await listServerTools(options, source, signal);
  const make = (definition: ToolDefinition) => createServerTool(source, definition, inspectionOnlyTools);
  const usable = findUsable([...listing.tools.values()], make, taken);
  const pinned = (await readPins(directory, name).catch(() => undefined))?.tools ?? [];
  const isNamed = (tool: string): boolean => asked === name || serverToolName(name, tool) === asked;
  const isMeant = (tool: ToolDefinition): boolean => isNamed(tool.name);
  const [before, now] = [pinned.filter(isMeant), usable.definitions.filter(isMeant)];
  if (before.length + now.length === 0) throw unknown(asked);
  const kept = readQuarantine(directory, name);
  const quarantined = kept === "unreadable" ? new Map(pinned.map((tool) => [tool.name, ""])) : kept;
  return {
    server: name,
    differences: differencesOf(name, before, now),
    quarantined: [...quarantined.keys()].filter(isNamed).map((tool) => serverToolName(name, tool)),
    stillQuarantined: new Map([...quarantined].filter(([tool]) => !isNamed(tool))),
    problems: [...listing.problems, ...usable.problems],
    next: { server: name, tools: [...pinned.filter((tool) => !isMeant(tool)), ...now] },
    directory,
  };
}

/** INVARIANT: writes the pins first, so that an interruption at any point leaves the quarantine in place. */
export async function trustReview({ directory, server, next, stillQuarantined }: ServerReview): Promise<void> {
  await writePins(directory, next);
  writeQuarantine(directory, server, stillQuarantined);
}

async function findSource(options: ReviewOptions, asked: string): Promise<ServerSource> {
  const server = asked.split("__")[0] ?? "";
  const settings = options.settings.get(server);
  if (settings === undefined) throw unknown(asked);
  const [source] = await prepareSources({ ...options, settings: new Map([[server, settings]]) });
  if (source === undefined) throw unknown(asked);
  return source;
}

function differencesOf(
  server: string,
  pinned: readonly ToolDefinition[],
  found: readonly ToolDefinition[],
): ToolDifference[] {
  const names = [...new Set([...pinned, ...found].map(({ name }) => name))];
  return names.flatMap((name): ToolDifference[] => {
    const [before, now] = [pinned.find((one) => one.name === name), found.find((one) => one.name === name)];
    const fields = before && now ? changedFields(before, now) : DEFINITION_FIELDS;
    if (fields.length === 0) return [];
    const change = before === undefined ? "new" : now === undefined ? "gone" : "changed";
    return [{ tool: serverToolName(server, name), change, fields: fields.map((field) => fieldOf(field, before, now)) }];
  });
}

function fieldOf(
  field: keyof ToolDefinition,
  before: ToolDefinition | undefined,
  now: ToolDefinition | undefined,
): ToolDifference["fields"][number] {
  const text = (definition: ToolDefinition | undefined): string => {
    const value = definition?.[field] ?? null;
    if (value === null) return "";
    return typeof value === "string" ? value : canonicalJson(value);
  };
  return { field, pinned: text(before), found: text(now) };
}

function unknown(asked: string): KernelError {
  return new KernelError(
    "TOOL_NOT_FOUND",
    `\`${showText(asked)}\` is no MCP server of this home's narthex.yaml, and none of their tools`,
  );
}

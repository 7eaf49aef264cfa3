import {
  blake3,
  canonicalJsonBytes,
  isJsonObject,
  isKernelError,
  type JsonObject,
  type JsonValue,
  KernelError,
  toHex,
} from "@narthex/contracts";
import {
  type Capability,
  defineTool,
  type Effect,
  type Tool,
  type ToolContext,
  type ToolSession,
} from "@narthex/kernel";
import { readResult } from "./read-result.ts";
import type { ServerCall } from "./server-pool.ts";
import type { ServerSettings, WorkspaceAccess } from "./server-settings.ts";
import { toDisplayText } from "./display-text.ts";
import { redactorsFor, type ServerSource } from "./server-source.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { serverToolName } from "./tool-name.ts";
import { accessFor, capabilitiesFor, resolveToolProfile } from "./tool-profile.ts";

/** What tools of servers need to run. */
export interface ServerTools {
  call(source: ServerSource, call: ServerCall, signal: AbortSignal): Promise<JsonObject>;
  /** Throws TOOL_QUARANTINED. */
  verify(name: string): void;
  /** Lists the entries of the workspace's root. */
  pathsIn(workspace: string): Promise<readonly string[]>;
}

/** Creates a tool from its pinned definition. */
export function createServerTool(source: ServerSource, definition: ToolDefinition, tools: ServerTools): Tool {
  const { settings } = source;
  const name = serverToolName(settings.name, definition.name);
  const { tier, effects, timeoutMs } = resolveToolProfile(settings, definition.name);
  const redactors = redactorsFor(source);
  const tool = defineTool({
    name,
    description: describe(settings.name, definition),
    inputSchema: true,
    resultType: definition.output_schema === null ? "json" : "object",
    effects,
    determinism: "external",
    tier,
    capabilities: capabilitiesFor(settings.name, effects),
    ...(timeoutMs !== undefined && { bounds: { timeoutMs } }),
    source: "mcp",
    isolation: "mcp",
    ...(redactors.length > 0 && { redactors }),
    needs: (_input, session) => requiredCapabilities(effects, session),
    run: (input, context) => run(source, { name, definition, effects }, tools, input, context),
  });
  const hash = programHash(settings, definition);
  return {
    ...tool,
    inputSchema: definition.input_schema,
    outputSchema: definition.output_schema ?? undefined,
    program: { hash },
  };
}

interface CalledTool {
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly effects: readonly Effect[];
}

async function run(
  source: ServerSource,
  { name, definition, effects }: CalledTool,
  tools: ServerTools,
  input: JsonValue,
  context: ToolContext,
): Promise<JsonValue> {
  tools.verify(name);
  if (!isJsonObject(input)) throw new KernelError("INVALID_INPUT", "the input of an MCP tool is an object");
  const { id: sessionId, workspace } = context.session;
  const access = accessFor(effects);
  if (access !== "none") await noteSecrets(input, await tools.pathsIn(workspace), context);
  const mayFork = effects.includes("process_spawn");
  const verify = (): void => verifyStarted(tools, name, access);
  const witness = source.settings.url === undefined ? undefined : context.network.accounting();
  const call = { sessionId, workspace, access, mayFork, witness, tool: definition.name, input, verify };
  return readResult(await tools.call(source, call, context.signal));
}

/**
 * If the server was started with write access, it may have changed files before the change of its tool was detected, so
 * the error no longer claims that nothing changed.
 */
function verifyStarted(tools: ServerTools, name: string, access: WorkspaceAccess): void {
  try {
    tools.verify(name);
  } catch (fault) {
    throw access === "write" && isKernelError(fault) ? new KernelError(fault.code, fault.message) : fault;
  }
}

/** Separators between paths in a text. */
const BETWEEN_WORDS = /[\s'"`=:;,|&<>(){}[\]$]+/u;
const MAX_WORDS = 10_000;

/**
 * SECURITY: it is unknown which files a server reads. Secret files in the root of the workspace, or named in the input,
 * count as read.
 */
async function noteSecrets(input: JsonValue, around: readonly string[], { files }: ToolContext): Promise<void> {
  const words = JSON.stringify(input).split(BETWEEN_WORDS).slice(0, MAX_WORDS);
  for (const path of [...around, ...words]) if (path !== "") files.noteReading(path);
}

/** The sandbox shows the whole workspace, and a server that may start processes may start any. */
function requiredCapabilities(effects: readonly Effect[], { workspace }: ToolSession): Capability[] {
  return [
    ...(effects.includes("fs_read") ? [{ kind: "fs_read", prefixes: [workspace] } as const] : []),
    ...(effects.includes("fs_write") ? [{ kind: "fs_write", prefixes: [workspace] } as const] : []),
    ...(effects.includes("process_spawn") ? [{ kind: "exec", names: ["*"] } as const] : []),
  ];
}

function describe(server: string, { name, description }: ToolDefinition): string {
  if (description !== null && description.trim() !== "") return description;
  return `The tool ${toDisplayText(name, 80)} of the MCP server ${server}.`;
}

/** Approvals are bound to the hash of the definition: with another command, URL, files or hints it is another tool. */
function programHash(settings: ServerSettings, definition: ToolDefinition): string {
  const { name, url, command, environment, secrets, files, workspace } = settings;
  return toHex(
    blake3(
      canonicalJsonBytes({
        server: name,
        ...(url !== undefined && { url }),
        command: [...command],
        env: Object.fromEntries(environment),
        secrets: Object.fromEntries(secrets),
        files: [...files],
        workspace,
        tool: { ...definition },
      }),
    ),
  );
}

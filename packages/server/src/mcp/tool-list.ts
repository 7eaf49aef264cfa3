import type { Tool } from "@modelcontextprotocol/server";
import { type JsonObject, toHex, type ToolInfo } from "@narthex/contracts";
import { compileSchema } from "@narthex/kernel";
import type { McpCaller } from "./mcp-caller.ts";
import { outputSchemaOf, toMcpTool } from "./mcp-tool.ts";

/** What a client was told about tools: a result must have the structure that its listing promised. */
export interface ToolList {
  refresh(): Promise<Tool[]>;
  /** At once if anything was listed before. */
  isStructured(name: string): boolean | Promise<boolean>;
  /** Whether a structure is one that the tool's listing promised. */
  fits(name: string, structure: JsonObject): boolean;
  /** As the client was told last; false for a tool that is not known. */
  isReadOnly(name: string): boolean;
  /** Whether the list is another one than the client got, or was told of, last. */
  hasChanged(): Promise<boolean>;
}

interface ListedTool {
  /** Undefined for one that MCP cannot call. */
  readonly tool: Tool | undefined;
  /** Of results that are promised as structured content. */
  readonly outputSchema: JsonObject | undefined;
}

/** No call of one of these could succeed. */
const UNUSABLE: ReadonlySet<string> = new Set(["quarantined", "disabled"]);

export function createToolList(caller: Pick<McpCaller, "listTools">): ToolList {
  /** By definition: a schema is read once, however often it is listed. */
  let known: ReadonlyMap<string, ListedTool> = new Map();
  /** Schemas of promised structures, by the names of the tools. */
  let structured: ReadonlyMap<string, JsonObject> | undefined;
  let readOnly: ReadonlySet<string> = new Set();
  /** What the client got last; undefined while it never asked. */
  let told: string | undefined;

  async function usable(): Promise<ToolInfo[]> {
    return (await caller.listTools()).filter(({ state }) => !UNUSABLE.has(state));
  }

  function listed(info: ToolInfo): ListedTool {
    const found = known.get(toHex(info.definitionHash));
    return found ?? { tool: toMcpTool(info), outputSchema: outputSchemaOf(info) };
  }

  async function refresh(): Promise<Tool[]> {
    const infos = await usable();
    told = definitionsOf(infos);
    const entries = infos.map((info) => [info, listed(info)] as const);
    known = new Map(entries.map(([{ definitionHash }, entry]) => [toHex(definitionHash), entry]));
    structured = new Map(
      entries.flatMap(([{ name }, { outputSchema }]) => (outputSchema === undefined ? [] : [[name, outputSchema]])),
    );
    readOnly = new Set(infos.flatMap(({ name, safetyTier }) => (safetyTier === "read_only" ? [name] : [])));
    return entries.flatMap(([, { tool }]) => (tool === undefined ? [] : [tool]));
  }

  return {
    refresh,
    isStructured: (name) =>
      structured === undefined ? refresh().then(() => structured?.has(name) ?? false) : structured.has(name),
    fits(name, structure) {
      const schema = structured?.get(name);
      return schema !== undefined && compileSchema(schema).check(structure).length === 0;
    },
    isReadOnly: (name) => readOnly.has(name),
    async hasChanged() {
      if (told === undefined) return false;
      const before = told;
      const now = definitionsOf(await usable());
      told = now;
      return now !== before;
    },
  };
}

function definitionsOf(infos: readonly ToolInfo[]): string {
  return infos.map(({ name, definitionHash }) => `${name} ${toHex(definitionHash)}`).join("\n");
}

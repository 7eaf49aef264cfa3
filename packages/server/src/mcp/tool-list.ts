import type { Tool } from "@modelcontextprotocol/server";
import { type JsonObject, toHex, type ToolInfo } from "@narthex/contracts";
import { compileSchema } from "@narthex/kernel";
import type { McpCaller } from "./mcp-caller.ts";
import { toOutputSchema, toMcpTool } from "./mcp-tool.ts";
import { type McpToolSet, selectOfferedTools } from "./offered-tools.ts";
import { describeApprovalNeeds } from "./describe-approval-needs.ts";

/** What a client was told about tools: a result must have the structure that its listing promised. */
export interface ToolList {
  refresh(): Promise<Tool[]>;
  /** Names of the tools that would be listed now. */
  names(): Promise<string[]>;
  /** Synchronous if tools were listed before. */
  isStructured(name: string): boolean | Promise<boolean>;
  /** Schema as listed; undefined for a tool that the session may not call, and before the first listing. */
  inputSchemaOf(name: string): JsonObject | undefined;
  /** Whether a structure matches the one that the tool's listing promised. */
  fits(name: string, structure: JsonObject): boolean;
  /** As the client was told last; false for an unknown tool. */
  isReadOnly(name: string): boolean;
  /** Whether the list differs from the one that the client last got or was notified of. */
  hasChanged(): Promise<boolean>;
}

interface OfferedTool {
  readonly info: ToolInfo;
  /** Which of its calls need an approval, as far as known from the policy. */
  readonly waiting: string;
}

interface ListedTool {
  /** Undefined if MCP cannot call it. */
  readonly tool: Tool | undefined;
  /** Schema of results that are promised as structured content. */
  readonly outputSchema: JsonObject | undefined;
}

export function createToolList(caller: Pick<McpCaller, "listTools" | "explain">, set: McpToolSet = "coding"): ToolList {
  /** Keyed by definition hash: a schema is parsed once, however often it is listed. */
  let known: ReadonlyMap<string, ListedTool> = new Map();
  /** Schemas of promised structures, by tool name. */
  let structured: ReadonlyMap<string, JsonObject> | undefined;
  let inputs: ReadonlyMap<string, JsonObject> = new Map();
  let readOnly: ReadonlySet<string> = new Set();
  /** The list that the client got last; undefined if it never requested one. */
  let told: string | undefined;

  function listed(info: ToolInfo): ListedTool {
    const found = known.get(toHex(info.definitionHash));
    return found ?? { tool: toMcpTool(info), outputSchema: toOutputSchema(info) };
  }

  /** Loads every tool that the session may call: a client may know one that is not listed. */
  async function load(): Promise<readonly ToolInfo[]> {
    const infos = await caller.listTools();
    known = new Map(infos.map((info) => [toHex(info.definitionHash), listed(info)]));
    structured = new Map(
      infos.flatMap((info) => {
        const { outputSchema } = listed(info);
        return outputSchema === undefined ? [] : [[info.name, outputSchema]];
      }),
    );
    inputs = new Map(
      infos.flatMap((info) => {
        const { tool } = listed(info);
        return tool === undefined ? [] : [[info.name, tool.inputSchema as JsonObject]];
      }),
    );
    readOnly = new Set(infos.flatMap(({ name, safetyTier }) => (safetyTier === "read_only" ? [name] : [])));
    return infos;
  }

  async function offer(infos: readonly ToolInfo[]): Promise<OfferedTool[]> {
    return Promise.all(
      selectOfferedTools(infos, set).map(async (info) => {
        const isOwn = info.source === "builtin";
        return { info, waiting: isOwn ? await describeApprovalNeeds(info.name, caller.explain) : "" };
      }),
    );
  }

  async function refresh(): Promise<Tool[]> {
    const offered = await offer(await load());
    told = digestOffer(offered);
    return offered.flatMap(({ info, waiting }) => {
      const { tool } = listed(info);
      if (tool === undefined) return [];
      return [waiting === "" ? tool : { ...tool, description: `${tool.description} ${waiting}` }];
    });
  }

  return {
    refresh,
    names: async () => selectOfferedTools(await load(), set).map(({ name }) => name),
    isStructured: (name) =>
      structured === undefined ? load().then(() => structured?.has(name) ?? false) : structured.has(name),
    inputSchemaOf: (name) => inputs.get(name),
    fits(name, structure) {
      const schema = structured?.get(name);
      return schema !== undefined && compileSchema(schema).check(structure).length === 0;
    },
    isReadOnly: (name) => readOnly.has(name),
    async hasChanged() {
      if (told === undefined) return false;
      const before = told;
      const now = digestOffer(await offer(await caller.listTools()));
      told = now;
      return now !== before;
    },
  };
}

function digestOffer(offered: readonly OfferedTool[]): string {
  return offered.map(({ info, waiting }) => `${info.name} ${toHex(info.definitionHash)} ${waiting}`).join("\n");
}

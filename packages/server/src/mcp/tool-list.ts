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
  /** Of the tools that would be listed now. */
  names(): Promise<string[]>;
  /** At once if anything was listed before. */
  isStructured(name: string): boolean | Promise<boolean>;
  /** As it is listed; undefined for a tool that the session may not call, and before anything was listed. */
  inputSchemaOf(name: string): JsonObject | undefined;
  /** Whether a structure is one that the tool's listing promised. */
  fits(name: string, structure: JsonObject): boolean;
  /** As the client was told last; false for a tool that is not known. */
  isReadOnly(name: string): boolean;
  /** Whether the list is another one than the client got, or was told of, last. */
  hasChanged(): Promise<boolean>;
}

interface OfferedTool {
  readonly info: ToolInfo;
  /** Which of its calls wait for a person, as far as the policy was asked. */
  readonly waiting: string;
}

interface ListedTool {
  /** Undefined for one that MCP cannot call. */
  readonly tool: Tool | undefined;
  /** Of results that are promised as structured content. */
  readonly outputSchema: JsonObject | undefined;
}

export function createToolList(caller: Pick<McpCaller, "listTools" | "explain">, set: McpToolSet = "coding"): ToolList {
  /** By definition: a schema is read once, however often it is listed. */
  let known: ReadonlyMap<string, ListedTool> = new Map();
  /** Schemas of promised structures, by the names of the tools. */
  let structured: ReadonlyMap<string, JsonObject> | undefined;
  let inputs: ReadonlyMap<string, JsonObject> = new Map();
  let readOnly: ReadonlySet<string> = new Set();
  /** What the client got last; undefined while it never asked. */
  let told: string | undefined;

  function listed(info: ToolInfo): ListedTool {
    const found = known.get(toHex(info.definitionHash));
    return found ?? { tool: toMcpTool(info), outputSchema: toOutputSchema(info) };
  }

  /** Every tool that the session may call: a client may know of one that is not offered. */
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

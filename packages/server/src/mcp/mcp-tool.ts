import { isJsonObject, type JsonObject, parseJson, type ToolInfo } from "@narthex/contracts";
import type { Tool } from "@modelcontextprotocol/server";

const CHANGING_EFFECTS: ReadonlySet<string> = new Set(["fs_write", "db_write", "net_write", "process_spawn"]);
const OUTSIDE_EFFECTS: ReadonlySet<string> = new Set(["net_read", "net_write", "inference"]);

/** A tool as MCP lists it; undefined for one whose input is no object, which MCP cannot call. */
export function toMcpTool(info: ToolInfo): Tool | undefined {
  const inputSchema = toObjectSchema(info.inputSchema);
  if (inputSchema === undefined) return undefined;
  const outputSchema = outputSchemaOf(info);
  const isReadOnly = info.safetyTier === "read_only";
  const changes = info.effects.some((effect) => CHANGING_EFFECTS.has(effect));
  return {
    name: info.name,
    description: info.description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: !isReadOnly && (changes || info.safetyTier === "privileged"),
      idempotentHint: isReadOnly || info.determinism === "pure",
      openWorldHint: info.effects.some((effect) => OUTSIDE_EFFECTS.has(effect)),
    },
  };
}

/**
 * The schema of results that are promised as structured content. Built-in tools answer in plain text: clients show their
 * model the structure instead of the text wherever there is one.
 */
export function outputSchemaOf(info: ToolInfo): ObjectSchema | undefined {
  if (info.source === "builtin" || info.resultType !== "object" || info.outputSchema === "") return undefined;
  return toObjectSchema(info.outputSchema);
}

type ObjectSchema = JsonObject & { type: "object" };

/** MCP asks for `type: object` at the root, which a schema may leave to be understood. */
function toObjectSchema(text: string): ObjectSchema | undefined {
  const schema = parseJson(text);
  if (schema === true) return { type: "object" };
  if (!isJsonObject(schema)) return undefined;
  const { type } = schema;
  return type === undefined || type === "object" ? { ...schema, type: "object" } : undefined;
}

import { isJsonObject, type JsonObject, parseJson, type ToolInfo } from "@narthex/contracts";
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { listedSchema } from "./listed-schema.ts";

const CHANGING_EFFECTS: ReadonlySet<string> = new Set(["fs_write", "db_write", "net_write", "process_spawn"]);
const OUTSIDE_EFFECTS: ReadonlySet<string> = new Set(["net_read", "net_write", "inference"]);

/** Converts a tool for an MCP listing; undefined if its input is not an object, which MCP cannot call. */
export function toMcpTool(info: ToolInfo): Tool | undefined {
  const whole = toObjectSchema(info.inputSchema);
  if (whole === undefined) return undefined;
  const listed: ObjectSchema = isBuiltin(info) ? { ...listedSchema(whole), type: "object" } : whole;
  const inputSchema = info.anyCase.reduce(withLowerCase, listed);
  const outputSchema = toOutputSchema(info);
  const annotations = toAnnotations(info);
  return {
    name: info.name,
    description: info.description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** Clients validate input themselves: `status` reaches the kernel only if it is listed beside `STATUS`. */
function withLowerCase(schema: ObjectSchema, field: string): ObjectSchema {
  const { properties } = schema;
  const of = isJsonObject(properties) ? properties[field] : undefined;
  if (!isJsonObject(properties) || !isJsonObject(of) || !Array.isArray(of["enum"])) return schema;
  const lower = of["enum"].flatMap((value) => (typeof value === "string" ? [value.toLowerCase()] : []));
  const spellings = [...new Set([...of["enum"], ...lower])];
  return { ...schema, properties: { ...properties, [field]: { ...of, enum: spellings } } };
}

/**
 * Returns the hints that differ from the protocol's defaults: destructive, not read-only, not idempotent and open to
 * the outside world.
 */
function toAnnotations({ safetyTier, effects, determinism }: ToolInfo): ToolAnnotations {
  const isReadOnly = safetyTier === "read_only";
  const changes = effects.some((effect) => CHANGING_EFFECTS.has(effect));
  const isOpen = effects.some((effect) => OUTSIDE_EFFECTS.has(effect));
  return {
    ...(isReadOnly ? { readOnlyHint: true } : {}),
    ...(isReadOnly || changes || safetyTier === "privileged" ? {} : { destructiveHint: false }),
    ...(!isReadOnly && determinism === "pure" ? { idempotentHint: true } : {}),
    ...(isOpen ? {} : { openWorldHint: false }),
  };
}

/**
 * Returns the schema of results that are promised as structured content. Built-in tools return plain text: a schema
 * would only fill a model's context, and clients show a structure instead of the text if there is one.
 */
export function toOutputSchema(info: ToolInfo): ObjectSchema | undefined {
  if (isBuiltin(info) || info.resultType !== "object" || info.outputSchema === "") return undefined;
  return toObjectSchema(info.outputSchema);
}

function isBuiltin({ source }: ToolInfo): boolean {
  return source === "builtin";
}

type ObjectSchema = JsonObject & { type: "object" };

/** MCP requires `type: object` at the root, which a schema may leave implicit. */
function toObjectSchema(text: string): ObjectSchema | undefined {
  const schema = parseJson(text);
  if (schema === true) return { type: "object" };
  if (!isJsonObject(schema)) return undefined;
  const { type } = schema;
  return type === undefined || type === "object" ? { ...schema, type: "object" } : undefined;
}

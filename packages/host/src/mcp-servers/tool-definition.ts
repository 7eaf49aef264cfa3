import { canonicalJson, canonicalJsonBytes, isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import { SERVER_LIMITS } from "./server-limits.ts";
import { toDisplayText } from "./display-text.ts";

/** Everything that a server reports about a tool and that may affect a decision. */
export interface ToolDefinition {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input_schema: JsonObject;
  readonly output_schema: JsonObject | null;
  /** Hints. Stored so that changes are detected; they are never trusted. */
  readonly annotations: JsonObject | null;
}

export const DEFINITION_FIELDS = [
  "name",
  "title",
  "description",
  "input_schema",
  "output_schema",
  "annotations",
] as const;

const MAX_NAME = 128;

/** Parses one entry of a server's list, or returns why it is invalid. */
export function parseDefinition(json: JsonValue): ToolDefinition | { readonly problem: string } {
  if (!isJsonObject(json)) return { problem: "an entry of its list is no object" };
  const name = ownField(json, "name");
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) {
    return { problem: `a tool has no name of 1 to ${MAX_NAME} characters` };
  }
  const shown = `\`${toDisplayText(name, 80)}\``;
  const inputSchema = ownField(json, "inputSchema");
  if (inputSchema === undefined || !isJsonObject(inputSchema)) return { problem: `${shown} has no input schema` };
  const execution = ownField(json, "execution");
  if (isJsonObject(execution ?? null) && (execution as JsonObject)["taskSupport"] === "required") {
    return { problem: `${shown} runs only as a task, which is not known here` };
  }
  const definition = definitionFrom(json, "inputSchema", "outputSchema");
  if (definition === undefined) return { problem: `${shown} has a field of the wrong kind` };
  if (canonicalJsonBytes({ ...definition }).length > SERVER_LIMITS.definitionBytes) {
    return { problem: `${shown} is described by more than ${SERVER_LIMITS.definitionBytes} bytes` };
  }
  return definition;
}

/** Decodes the stored form of a definition; undefined if it is invalid. */
export function decodeDefinition(json: JsonValue): ToolDefinition | undefined {
  return isJsonObject(json) ? definitionFrom(json, "input_schema", "output_schema") : undefined;
}

/** Returns the fields in which two definitions differ. */
export function changedFields(one: ToolDefinition, other: ToolDefinition): readonly (keyof ToolDefinition)[] {
  return DEFINITION_FIELDS.filter((field) => canonicalJson(one[field]) !== canonicalJson(other[field]));
}

function definitionFrom(json: JsonObject, input: string, output: string): ToolDefinition | undefined {
  const text = (key: string): string | null | undefined => {
    const value = ownField(json, key) ?? null;
    return value === null || typeof value === "string" ? value : undefined;
  };
  const object = (key: string): JsonObject | null | undefined => {
    const value = ownField(json, key) ?? null;
    return value === null || isJsonObject(value) ? value : undefined;
  };
  const name = text("name");
  const [title, description] = [text("title"), text("description")];
  const [input_schema, output_schema, annotations] = [object(input), object(output), object("annotations")];
  if (!name || !input_schema || title === undefined || description === undefined) return undefined;
  if (output_schema === undefined || annotations === undefined) return undefined;
  return { name, title, description, input_schema, output_schema, annotations };
}

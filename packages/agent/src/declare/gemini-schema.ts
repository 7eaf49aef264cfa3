import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { mapSubschemas, type Subschema } from "./map-schema.ts";
import { noteKeyword, withNotes } from "./note-keyword.ts";

/** The JSON Schema keywords that Gemini supports. */
const SUPPORTED_KEYWORDS: ReadonlySet<string> = new Set([
  "$anchor",
  "$defs",
  "$id",
  "$ref",
  "additionalProperties",
  "anyOf",
  "description",
  "enum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "oneOf",
  "prefixItems",
  "properties",
  "required",
  "title",
  "type",
]);
/** Keywords that a model does not need to know. */
const DROPPED_KEYWORDS: ReadonlySet<string> = new Set(["$comment", "$schema"]);

/**
 * Converts a schema to these keywords. Unsupported constraints are described in the descriptions, which the model
 * reads.
 */
export function toGeminiSchema(schema: JsonObject): JsonObject {
  const renamed = withDefinitions(withConstant(schema));
  const notes: string[] = [];
  const kept: [string, JsonValue][] = [];
  for (const [keyword, value] of Object.entries(renamed)) {
    if (SUPPORTED_KEYWORDS.has(keyword) && (keyword !== "enum" || isReadEnum(value))) kept.push([keyword, value]);
    else if (!DROPPED_KEYWORDS.has(keyword)) notes.push(noteKeyword(keyword, value));
  }
  const mapped = mapSubschemas(Object.fromEntries(kept), toObject);
  const { description } = mapped;
  const described = withNotes(typeof description === "string" ? description : "", notes);
  return withLoneReference(described === "" ? mapped : { ...mapped, description: described });
}

/** Only `additionalProperties` may be a boolean. */
function toObject(schema: Subschema, keyword: string): Subschema {
  if (isJsonObject(schema)) return toGeminiSchema(schema);
  if (keyword === "additionalProperties") return schema;
  return schema ? {} : { description: "must be absent" };
}

/** `const` becomes an `enum` of one value. */
function withConstant(schema: JsonObject): JsonObject {
  const { const: only, ...rest } = schema;
  return only === undefined || rest["enum"] !== undefined ? schema : { ...rest, enum: [only] };
}

function withDefinitions(schema: JsonObject): JsonObject {
  const { definitions, ...rest } = schema;
  const moved = typeof rest["$ref"] === "string" ? rest["$ref"].replace(/^#\/definitions\//, "#/$defs/") : undefined;
  const known = isJsonObject(rest["$defs"]) ? rest["$defs"] : {};
  return {
    ...rest,
    ...(moved !== undefined && { $ref: moved }),
    ...(isJsonObject(definitions) && { $defs: { ...definitions, ...known } }),
  };
}

/** Whether all values are strings and numbers, the only ones that Gemini reads. */
function isReadEnum(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number");
}

/** `$ref` must be the only keyword. */
function withLoneReference(schema: JsonObject): JsonObject {
  const { $ref: reference, ...rest } = schema;
  const isAlone = Object.keys(rest).every((keyword) => keyword.startsWith("$"));
  return reference === undefined || isAlone ? schema : { anyOf: [{ $ref: reference }], ...rest };
}

import { isJsonObject } from "@narthex/contracts";
import type { ObjectSchema } from "./function-decl.ts";
import { everySubschema, mapSubschemas, type Subschema } from "./map-schema.ts";

/**
 * The keywords that OpenAI's strict mode supports. A schema with any other is refused, and the whole request with it.
 */
const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "$ref",
  "additionalProperties",
  "anyOf",
  "const",
  "description",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "multipleOf",
  "properties",
  "required",
  "title",
  "type",
]);
const MAX_DEPTH = 5;
const MAX_PROPERTIES = 100;
const MAX_ENUM_VALUES = 500;
const MAX_CHARACTERS = 15_000;

/**
 * Whether a schema can be sent with `strict: true`: every object closed, every property required, no unsupported
 * keyword. Uses the narrowest limits that were ever published.
 */
export function isStrict(parameters: ObjectSchema): boolean {
  let properties = 0;
  let enumValues = 0;
  const isWithin = everySubschema(parameters, (subschema) => {
    if (!isJsonObject(subschema)) return !subschema;
    properties += isJsonObject(subschema["properties"]) ? Object.keys(subschema["properties"]).length : 0;
    enumValues += Array.isArray(subschema["enum"]) ? subschema["enum"].length : 0;
    return isStrictPart(subschema);
  });
  return (
    isWithin &&
    properties <= MAX_PROPERTIES &&
    enumValues <= MAX_ENUM_VALUES &&
    depthOf(parameters) <= MAX_DEPTH &&
    JSON.stringify(parameters).length <= MAX_CHARACTERS
  );
}

function isStrictPart(schema: Exclude<Subschema, boolean>): boolean {
  if (!Object.keys(schema).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  const { type, properties, required, additionalProperties } = schema;
  if (type === undefined && !["$ref", "anyOf", "const", "enum"].some((keyword) => Object.hasOwn(schema, keyword))) {
    return false;
  }
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("array") && schema["items"] === undefined) return false;
  const isObject = types.includes("object");
  if (!isObject) return properties === undefined && additionalProperties === undefined;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name));
}

function depthOf(schema: Subschema): number {
  if (typeof schema === "boolean") return 0;
  let deepest = 0;
  mapSubschemas(schema, (subschema) => {
    deepest = Math.max(deepest, depthOf(subschema));
    return subschema;
  });
  return deepest + 1;
}

import { mapSubschemas } from "@narthex/agent";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";

/** Size limits far above any ordinary call, and exclusions that a description states in words. */
const UNLISTED: ReadonlySet<string> = new Set([
  "dependentRequired",
  "dependentSchemas",
  "maxItems",
  "maxLength",
  "maxProperties",
  "minLength",
  "minProperties",
  "not",
  "propertyNames",
]);
/** Larger numeric bounds are limits of the format, not facts about the tool. */
const MAX_LISTED_BOUND = 1_000_000_000;

/**
 * Reduces the input schema of a built-in tool to what a model needs. Every listing is sent with every turn of a
 * conversation, so it omits constraints that do not help to write a call. The kernel checks the whole schema, and its
 * error for an invalid call lists the problems and the expected shape.
 */
export function listedSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([keyword, value]) => isListed(keyword, value));
  return mapSubschemas(Object.fromEntries(kept), (subschema) =>
    isJsonObject(subschema) ? listedSchema(subschema) : subschema,
  );
}

function isListed(keyword: string, value: JsonValue): boolean {
  if (UNLISTED.has(keyword)) return false;
  if (keyword === "maximum") return typeof value !== "number" || value < MAX_LISTED_BOUND;
  if (keyword === "minimum") return value !== 0;
  return !(keyword === "default" && (value === 0 || (Array.isArray(value) && value.length === 0)));
}

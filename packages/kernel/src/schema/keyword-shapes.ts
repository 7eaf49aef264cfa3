import { isJsonObject, type JsonValue } from "@narthex/contracts";

/** The shape that a keyword's value must have, which tells where its subschemas are. */
export type KeywordShape =
  | "schema"
  | "schemas"
  | "schema_or_schemas"
  | "schema_map"
  | "text"
  | "texts"
  | "texts_map"
  | "count"
  | "number"
  | "positive"
  | "flag"
  | "type"
  | "enum"
  | "any"
  | "refused";

export const JSON_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/**
 * All keywords that this engine implements. Others are annotations, as the standard says.
 *
 * INVARIANT: a keyword listed here is either enforced or rejected. A value of the wrong shape is rejected, since
 * ignoring it would accept values that its author meant to forbid.
 */
export const KEYWORDS: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ["$schema", "text"],
  ["$id", "text"],
  ["$anchor", "text"],
  ["$dynamicAnchor", "text"],
  ["$ref", "text"],
  ["$dynamicRef", "refused"],
  ["$recursiveRef", "refused"],
  ["$defs", "schema_map"],
  ["definitions", "schema_map"],
  ["type", "type"],
  ["enum", "enum"],
  ["const", "any"],
  ["multipleOf", "positive"],
  ["maximum", "number"],
  ["exclusiveMaximum", "number"],
  ["minimum", "number"],
  ["exclusiveMinimum", "number"],
  ["maxLength", "count"],
  ["minLength", "count"],
  ["pattern", "text"],
  ["format", "text"],
  ["maxItems", "count"],
  ["minItems", "count"],
  ["uniqueItems", "flag"],
  ["maxContains", "count"],
  ["minContains", "count"],
  ["maxProperties", "count"],
  ["minProperties", "count"],
  ["required", "texts"],
  ["dependentRequired", "texts_map"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["dependentSchemas", "schema_map"],
  ["prefixItems", "schemas"],
  ["items", "schema_or_schemas"],
  ["additionalItems", "schema"],
  ["contains", "schema"],
  ["properties", "schema_map"],
  ["patternProperties", "schema_map"],
  ["additionalProperties", "schema"],
  ["propertyNames", "schema"],
  ["unevaluatedItems", "schema"],
  ["unevaluatedProperties", "schema"],
  ["dependencies", "refused"],
  ["description", "text"],
  ["title", "text"],
]);

/** Why a keyword's value has the wrong shape; undefined if the shape is right. */
export function findShapeProblem(shape: KeywordShape, value: JsonValue): string | undefined {
  switch (shape) {
    case "schema":
      return isSchema(value) ? undefined : "must be a schema: an object or a boolean";
    case "schemas":
      return isSchemas(value) ? undefined : "must be a list of at least one schema";
    case "schema_or_schemas":
      return isSchema(value) || (Array.isArray(value) && value.every(isSchema)) ? undefined : "must be a schema";
    case "schema_map":
      return isJsonObject(value) && Object.values(value).every(isSchema) ? undefined : "must be an object of schemas";
    case "text":
      return typeof value === "string" ? undefined : "must be a text";
    case "texts":
      return isTexts(value) ? undefined : "must be a list of different texts";
    case "texts_map":
      return isJsonObject(value) && Object.values(value).every(isTexts) ? undefined : "must be an object of text lists";
    case "count":
      return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "must be a whole number from 0";
    case "number":
      return typeof value === "number" ? undefined : "must be a number";
    case "positive":
      return typeof value === "number" && value > 0 ? undefined : "must be a number above 0";
    case "flag":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "type":
      return isType(value) ? undefined : `must be one of ${JSON_TYPES.join(", ")}, or a list of these`;
    case "enum":
      return Array.isArray(value) ? undefined : "must be a list of values";
    case "any":
      return undefined;
    case "refused":
      return "is not supported";
  }
}

function isSchema(value: JsonValue): boolean {
  return typeof value === "boolean" || isJsonObject(value);
}

function isSchemas(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema);
}

function isTexts(value: JsonValue): boolean {
  return (
    Array.isArray(value) && value.every((item) => typeof item === "string") && new Set(value).size === value.length
  );
}

function isType(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length > 0 && isTexts(value) && value.every(isTypeName);
  return isTypeName(value);
}

function isTypeName(value: JsonValue): boolean {
  return JSON_TYPES.some((name) => name === value);
}

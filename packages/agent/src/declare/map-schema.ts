import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";

const SINGLE: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"]);
const MAPS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

export type Subschema = JsonObject | boolean;

/**
 * Replaces each direct subschema of a schema. Values that only look like schemas stay unchanged: properties with the
 * name of a keyword, and the values of `enum`, `const` and `default`.
 */
export function mapSubschemas(
  schema: JsonObject,
  replace: (subschema: Subschema, keyword: string) => Subschema,
): JsonObject {
  const one = (value: JsonValue, keyword: string): JsonValue => (isSubschema(value) ? replace(value, keyword) : value);
  // `fromEntries` defines properties, so that a key named `__proto__` is an ordinary key.
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
      if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map((item) => one(item, keyword))];
      if (MAPS.has(keyword) && isJsonObject(value)) {
        return [keyword, Object.fromEntries(Object.entries(value).map(([key, item]) => [key, one(item, keyword)]))];
      }
      return [keyword, SINGLE.has(keyword) ? one(value, keyword) : value];
    }),
  );
}

/** Whether a condition holds for a schema and all schemas in it. */
export function everySubschema(schema: Subschema, holds: (subschema: Subschema) => boolean): boolean {
  if (!holds(schema)) return false;
  if (typeof schema === "boolean") return true;
  let all = true;
  mapSubschemas(schema, (subschema) => {
    all &&= everySubschema(subschema, holds);
    return subschema;
  });
  return all;
}

function isSubschema(value: JsonValue): value is Subschema {
  return typeof value === "boolean" || isJsonObject(value);
}

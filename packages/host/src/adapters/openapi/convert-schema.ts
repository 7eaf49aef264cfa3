import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";

/** Keywords of the OpenAPI dialect that do not matter for validation. */
const IGNORED_KEYWORDS = new Set(["discriminator", "xml", "externalDocs", "example", "nullable", "deprecated"]);
const SUBSCHEMA_KEYWORDS = new Set(
  "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);
const SUBSCHEMA_LIST_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SUBSCHEMA_MAP_KEYWORDS = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
const OWN_REFERENCE = /^#\/components\/schemas\/([A-Za-z0-9._-]+)$/;

/**
 * Converts schemas of an OpenAPI document to JSON Schema, with the named schemas that they refer to.
 *
 * SECURITY: a reference outside the same document is rejected, so a document cannot make the kernel fetch anything.
 */
export class SchemaConverter {
  readonly problems: string[] = [];
  readonly #named: JsonObject;
  readonly #needed = new Map<string, JsonValue>();

  constructor(named: JsonObject) {
    this.#named = named;
  }

  /** Named schemas that were referred to so far. */
  get definitions(): JsonObject {
    return Object.fromEntries([...this.#needed].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  convert(schema: JsonValue): JsonValue {
    if (!isJsonObject(schema)) return schema;
    const converted: Record<string, JsonValue> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (IGNORED_KEYWORDS.has(key) || key.startsWith("x-")) continue;
      converted[key] = this.#convertKey(key, value);
    }
    return withBounds(withNull(converted, schema), schema);
  }

  #convertKey(key: string, value: JsonValue): JsonValue {
    if (key === "$ref") return this.#refer(value);
    if (SUBSCHEMA_KEYWORDS.has(key)) return this.convert(value);
    if (SUBSCHEMA_LIST_KEYWORDS.has(key) && Array.isArray(value)) return value.map((item) => this.convert(item));
    if (!SUBSCHEMA_MAP_KEYWORDS.has(key) || !isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.convert(item)]));
  }

  #refer(reference: JsonValue): JsonValue {
    const [, name] = (typeof reference === "string" ? OWN_REFERENCE.exec(reference) : undefined) ?? [];
    const found = name === undefined ? undefined : ownField(this.#named, name);
    if (name === undefined || found === undefined) {
      this.problems.push(`refers to \`${shown(reference)}\`, which is not in components/schemas`);
      return "#";
    }
    if (!this.#needed.has(name)) {
      // Set before the conversion, because a schema may refer to itself.
      this.#needed.set(name, true);
      this.#needed.set(name, this.convert(found));
    }
    return `#/$defs/${name}`;
  }
}

/** OpenAPI 3.0 uses `nullable` where JSON Schema uses a type. */
function withNull(converted: Record<string, JsonValue>, { nullable, type, enum: values }: JsonObject): JsonObject {
  if (nullable !== true || typeof type !== "string") return converted;
  const withNone = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...converted, type: [type, "null"], ...withNone };
}

/**
 * In OpenAPI 3.0 `exclusiveMinimum` is a boolean beside `minimum`; in JSON Schema it is the bound itself. Likewise for
 * the maximum.
 */
function withBounds(
  converted: JsonObject,
  { exclusiveMinimum, exclusiveMaximum, minimum, maximum }: JsonObject,
): JsonObject {
  if (typeof exclusiveMinimum !== "boolean" && typeof exclusiveMaximum !== "boolean") return converted;
  const kept = Object.fromEntries(
    Object.entries(converted).filter(([key]) => key !== "exclusiveMinimum" && key !== "exclusiveMaximum"),
  );
  return {
    ...kept,
    ...(exclusiveMinimum === true && minimum !== undefined && { exclusiveMinimum: minimum }),
    ...(exclusiveMaximum === true && maximum !== undefined && { exclusiveMaximum: maximum }),
  };
}

function shown(value: JsonValue): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 80);
}

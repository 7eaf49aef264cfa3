import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";

/** Of an API's own dialect, and of no use to whoever checks an input. */
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
 * JSON Schema of what an API's description calls one, with the named schemas that it needs.
 *
 * SECURITY: a reference to anywhere but the same document is refused: nothing is fetched because a document says so.
 */
export class SchemaConverter {
  readonly problems: string[] = [];
  readonly #named: JsonObject;
  readonly #needed = new Map<string, JsonValue>();

  constructor(named: JsonObject) {
    this.#named = named;
  }

  /** Those that were referred to so far, by name. */
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
      // Before it is converted: it may refer to itself.
      this.#needed.set(name, true);
      this.#needed.set(name, this.convert(found));
    }
    return `#/$defs/${name}`;
  }
}

/** Version 3.0 says `nullable` where JSON Schema has a type. */
function withNull(converted: Record<string, JsonValue>, { nullable, type, enum: values }: JsonObject): JsonObject {
  if (nullable !== true || typeof type !== "string") return converted;
  const withNone = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...converted, type: [type, "null"], ...withNone };
}

/** Version 3.0 says of a bound that it is exclusive; JSON Schema gives that bound a name of its own. */
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

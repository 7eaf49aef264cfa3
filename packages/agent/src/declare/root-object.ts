import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { ObjectSchema } from "./function-decl.ts";
import { mapSubschemas, type Subschema } from "./map-schema.ts";
import { noteKeyword } from "./note-keyword.ts";

/** A tool's input schema in the form that every provider accepts. */
export interface RootObject {
  readonly parameters: ObjectSchema;
  /** Whether the tool's input is the field `input` of the model's arguments. */
  readonly isWrapped: boolean;
  /** Removed constraints, described in one sentence each. */
  readonly notes: readonly string[];
}

/** The field that contains the input of a tool whose input is not an object. */
export const WRAPPED_FIELD = "input";

const REFUSED_AT_ROOT = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "anyOf",
  "const",
  "else",
  "enum",
  "if",
  "not",
  "oneOf",
  "then",
];

/** SPEC: docs/guides/agents.md, what models are told. */
export function toRootObject(schema: Subschema): RootObject {
  if (typeof schema === "boolean") return wrap(schema);
  const refused = REFUSED_AT_ROOT.filter((keyword) => Object.hasOwn(schema, keyword));
  const hasProperties = isJsonObject(schema["properties"]);
  const isObject = schema["type"] === "object" || (schema["type"] === undefined && hasProperties);
  if (!isObject || (refused.length > 0 && !hasProperties)) return wrap(schema);
  const kept = Object.entries(schema).filter(([keyword]) => !refused.includes(keyword));
  return {
    parameters: { ...Object.fromEntries(kept), type: "object" },
    isWrapped: false,
    notes: refused.map((keyword) => noteKeyword(keyword, schema[keyword] ?? null)),
  };
}

function wrap(schema: Subschema): RootObject {
  const { $defs, definitions, $schema, ...input } = typeof schema === "boolean" ? ({} as JsonObject) : schema;
  return {
    parameters: {
      type: "object",
      properties: { [WRAPPED_FIELD]: typeof schema === "boolean" ? {} : moveReferences(input) },
      required: [WRAPPED_FIELD],
      additionalProperties: false,
      ...definition("$schema", $schema),
      ...definition("$defs", $defs),
      ...definition("definitions", definitions),
    },
    isWrapped: true,
    notes: [],
  };
}

/** Definitions stay at the root; other references into the old root now point one level deeper. */
function definition(keyword: string, value: JsonValue | undefined): JsonObject {
  if (value === undefined) return {};
  if (!isJsonObject(value)) return { [keyword]: value };
  const moved = Object.entries(value).map(([name, item]): [string, JsonValue] => [
    name,
    isJsonObject(item) ? moveReferences(item) : item,
  ]);
  return { [keyword]: Object.fromEntries(moved) };
}

function moveReferences(schema: JsonObject): JsonObject {
  const moved = mapSubschemas(schema, (subschema) => (isJsonObject(subschema) ? moveReferences(subschema) : subschema));
  const reference = moved["$ref"];
  if (typeof reference !== "string" || !/^#(?!\/\$defs\/|\/definitions\/)(?:\/|$)/.test(reference)) return moved;
  return { ...moved, $ref: `#/properties/${WRAPPED_FIELD}${reference.slice(1)}` };
}

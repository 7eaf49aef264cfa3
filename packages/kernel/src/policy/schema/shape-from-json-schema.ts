import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "../../capability/json-reader.ts";
import {
  BOOL,
  type CedarShape,
  EMPTY_RECORD,
  LONG,
  type PlainShape,
  type RecordShape,
  recordShape,
  type ShapeAttribute,
  STRING,
} from "./cedar-shape.ts";

const PLAIN: ReadonlyMap<JsonValue | undefined, PlainShape> = new Map<JsonValue | undefined, PlainShape>([
  ["string", STRING],
  ["integer", LONG],
  ["boolean", BOOL],
]);

/**
 * The part of the objects described by a JSON Schema that rules can see.
 *
 * INVARIANT: every value that fits the schema has this shape. Only `type`, `properties`, `required`, `default` and
 * `items` are read: all other keywords can only narrow what these allow.
 */
export function shapeFromJsonSchema(schema: JsonObject | boolean): RecordShape {
  const shape = isJsonObject(schema) && typeOf(schema) === "object" ? recordFrom(schema) : undefined;
  return shape ?? EMPTY_RECORD;
}

function shapeFrom(schema: JsonValue): CedarShape | undefined {
  if (!isJsonObject(schema)) return undefined;
  const type = typeOf(schema);
  if (type === "object") return recordFrom(schema);
  return type === "array" ? setFrom(schema) : PLAIN.get(type);
}

/** The `type` keyword; a list with one type means the same as that type. */
function typeOf(schema: JsonObject): JsonValue | undefined {
  const type = ownField(schema, "type");
  return Array.isArray(type) && type.length === 1 ? type[0] : type;
}

/** Undefined if no property is visible. */
function recordFrom(schema: JsonObject): RecordShape | undefined {
  const properties = ownField(schema, "properties");
  if (properties === undefined || !isJsonObject(properties)) return undefined;
  const required = ownField(schema, "required");
  const attributes: ShapeAttribute[] = [];
  for (const [name, property] of Object.entries(properties)) {
    // Cedar and JavaScript give special meanings to some names with this prefix.
    const shape = name.startsWith("__") ? undefined : shapeFrom(property);
    if (shape === undefined) continue;
    const isGiven = isJsonObject(property) && Object.hasOwn(property, "default");
    attributes.push({ name, required: isGiven || (Array.isArray(required) && required.includes(name)), shape });
  }
  return attributes.length === 0 ? undefined : recordShape(attributes);
}

function setFrom(schema: JsonObject): CedarShape | undefined {
  // The first items would have schemas of their own.
  if (Object.hasOwn(schema, "prefixItems")) return undefined;
  const items = ownField(schema, "items");
  const element = isJsonObject(items) ? PLAIN.get(typeOf(items)) : undefined;
  return element && { kind: "set", element };
}

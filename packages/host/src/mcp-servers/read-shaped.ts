import type { JsonObject, JsonValue } from "@narthex/contracts";
import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import { quote } from "../configuration/configuration-problems.ts";
import { joinPath } from "../configuration/nearest-key.ts";
import type {
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  ShapedSchema,
  TextShape,
  EnumShape,
} from "./servers-schema.ts";

export interface ShapeReadingContext {
  add(at: unknown, field: string, rule: string, message: () => string): void;
  /** Document that describes the allowed values. */
  readonly guide?: string;
}

type Node = ParsedNode | null | undefined;

/**
 * Returns the value of a node that matches a shape. Invalid values are reported but never quoted, because they may be
 * secrets.
 */
export function readShaped(node: Node, shape: ShapedSchema, path: string, reading: ShapeReadingContext): JsonValue {
  if (shape.type === "array") return readList(node, shape, path, reading);
  if (shape.type !== "object") return readScalar(node, shape, path, reading);
  if (!isMap(node)) return refuse(reading, node, path, "format", "must be a section of keys");
  if ("if" in shape) {
    const [key] = shape.if.required;
    return readObject(node, node.has(key) ? shape.then : shape.else, path, reading);
  }
  return "properties" in shape ? readObject(node, shape, path, reading) : readMap(node, shape, path, reading);
}

function readObject(map: YAMLMap.Parsed, shape: ObjectShape, path: string, reading: ShapeReadingContext): JsonValue {
  const known = Object.keys(shape.properties);
  const object = readEntries(map, path, reading, (name, own, key) => {
    if (Object.hasOwn(shape.properties, name)) return shape.properties[name];
    refuse(reading, key, own, "unknown_field", `is not known; known are ${known.join(", ")}`);
    return undefined;
  });
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(object, name)) refuse(reading, map, joinPath(path, name), "required", "must be given");
  }
  return object;
}

function readMap(map: YAMLMap.Parsed, shape: MapShape, path: string, reading: ShapeReadingContext): JsonValue {
  const { propertyNames, maxProperties, additionalProperties } = shape;
  if (map.items.length > maxProperties) {
    refuse(reading, map, path, "max_items", `has more than ${maxProperties} names`);
  }
  return readEntries(map, path, reading, (name, own, key) => {
    const isTaken = propertyNames.not !== undefined && fits(name, propertyNames.not.pattern);
    if (fits(name, propertyNames.pattern) && !isTaken) return additionalProperties;
    refuse(reading, key, own, "format", isTaken ? "is set by the sandbox itself" : "is no name that can stand here");
    return undefined;
  });
}

function readEntries(
  map: YAMLMap.Parsed,
  path: string,
  reading: ShapeReadingContext,
  shapeOf: (name: string, own: string, key: unknown) => ShapedSchema | undefined,
): JsonObject {
  const entries = new Map<string, JsonValue>();
  for (const { key, value } of map.items) {
    if (!isScalar(key) || typeof key.value !== "string") {
      refuse(reading, key, path, "malformed", "has a key that is no plain name");
      continue;
    }
    const own = joinPath(path, key.value);
    if (entries.has(key.value)) refuse(reading, key, own, "duplicate", "is given twice; keep one");
    const shape = shapeOf(key.value, own, key);
    entries.set(key.value, shape === undefined ? null : readShaped(value, shape, own, reading));
  }
  return Object.fromEntries(entries);
}

function readList(node: Node, shape: ListShape, path: string, reading: ShapeReadingContext): JsonValue {
  if (!isSeq(node)) return refuse(reading, node, path, "format", "must be a list");
  const { minItems = 0, maxItems, items } = shape;
  if (node.items.length < minItems) refuse(reading, node, path, "required", "must not be empty");
  if (node.items.length > maxItems) refuse(reading, node, path, "max_items", `has more than ${maxItems} entries`);
  return node.items.map((item, index) => readShaped(item as Node, items, `${path}[${index}]`, reading));
}

function readScalar(
  node: Node,
  shape: TextShape | EnumShape | NumberShape,
  path: string,
  reading: ShapeReadingContext,
): JsonValue {
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (shape.type === "integer") {
    const { minimum, maximum } = shape;
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
    return refuse(reading, node, path, "range", `must be a whole number from ${minimum} to ${maximum}`);
  }
  if ("enum" in shape) {
    if (typeof value === "string" && shape.enum.includes(value)) return value;
    return refuse(reading, node, path, "one_of", `must be one of ${shape.enum.join(", ")}`);
  }
  if (typeof value !== "string") return refuse(reading, node, path, "format", "must be text: put it in quotes");
  // Counts code points, as JSON Schema does.
  if (fits(value, shape.pattern) && Array.from(value).length <= shape.maxLength) return value;
  return refuse(
    reading,
    node,
    path,
    "format",
    `is nothing that can stand here; ${reading.guide ?? "docs/guides/mcp-servers.md"} says what can`,
  );
}

function fits(text: string, pattern: string): boolean {
  return new RegExp(pattern, "u").test(text);
}

function refuse(reading: ShapeReadingContext, at: unknown, path: string, rule: string, message: string): null {
  reading.add(at, path, rule, () => `${quote(path, 200)} ${message}`);
  return null;
}

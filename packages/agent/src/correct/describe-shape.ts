import { isJsonObject, type JsonValue } from "@narthex/contracts";

const MAX_DEPTH = 4;
const MAX_VALUES = 12;
const MAX_SHAPE = 1500;

/** Describes a schema in the notation that models know best: `{ path: string, limit?: integer }`. */
export function describeShape(schema: JsonValue): string {
  const shape = shapeOf(schema, 0);
  return shape.length > MAX_SHAPE ? `${shape.slice(0, MAX_SHAPE).toWellFormed()}…` : shape;
}

function shapeOf(schema: JsonValue | undefined, depth: number): string {
  if (!isJsonObject(schema)) return "any";
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return listed(schema["enum"].map((value) => JSON.stringify(value)));
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return listed(branches.map((branch) => shapeOf(branch, depth)));
  const { type, $ref: reference } = schema;
  if (typeof reference === "string") return reference.slice(reference.lastIndexOf("/") + 1) || "any";
  if (Array.isArray(type)) return listed(type.map((name) => shapeOf({ ...schema, type: name }, depth)));
  if (type === "array") return `${bracketed(shapeOf(schema["items"], depth + 1))}[]`;
  if (type === "object" || isJsonObject(schema["properties"])) return objectShape(schema["properties"], schema, depth);
  return typeof type === "string" ? type : "any";
}

function objectShape(properties: JsonValue | undefined, schema: JsonValue, depth: number): string {
  if (!isJsonObject(properties) || depth >= MAX_DEPTH) return "object";
  const required = isJsonObject(schema) && Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name);
    return `${key}${required.includes(name) ? "" : "?"}: ${shapeOf(property, depth + 1)}`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function listed(shapes: readonly string[]): string {
  const shown = [...new Set(shapes)].slice(0, MAX_VALUES);
  return `${shown.join(" | ")}${shapes.length > MAX_VALUES ? " | …" : ""}`;
}

function bracketed(shape: string): string {
  return shape.includes(" | ") ? `(${shape})` : shape;
}

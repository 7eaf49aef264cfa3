import type { JsonObject } from "@narthex/contracts";
import type { Field, Shape } from "./shape.ts";

/** Converts a shape to its JSON Schema. */
export function shapeSchema(shape: Shape): JsonObject {
  switch (shape.kind) {
    case "literals":
      return { enum: [...shape.values] };
    case "nullable":
      return nullableSchema(shape.of);
    case "list":
      return { type: "array", items: shapeSchema(shape.items) };
    case "record":
      return { type: "object", additionalProperties: shapeSchema(shape.values) };
    case "object":
      return objectSchema(shape.fields);
    default:
      return { type: shape.kind };
  }
}

/** The schema of a closed object: a field that a caller misspells is an error and not ignored. */
export function objectSchema(fields: readonly Field[]): JsonObject & { readonly type: "object" } {
  const required = fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function fieldSchema({ shape, description }: Field): JsonObject {
  return { ...shapeSchema(shape), ...(description !== "" && { description }) };
}

function nullableSchema(shape: Shape): JsonObject {
  const schema = shapeSchema(shape);
  const { type, ...rest } = schema;
  if (typeof type === "string" && Object.keys(rest).length === 0) return { type: [type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}

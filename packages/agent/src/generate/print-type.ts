import type { Field, Shape } from "./shape.ts";
import { LINE_WIDTH, printKey } from "./print-value.ts";

/** Prints the type of a shape's JSON values, as `defineTool` infers it from the schema. The text starts at `column`. */
export function printType(shape: Shape, indent: string, column: number): string {
  const flat = printFlat(shape);
  if (column + flat.length < LINE_WIDTH) return flat;
  const own = (part: Shape): string => printType(part, indent, column);
  switch (shape.kind) {
    case "nullable":
      return `${own(shape.of)} | null`;
    case "list":
      return isUnion(shape.items) ? `(${own(shape.items)})[]` : `${own(shape.items)}[]`;
    case "record":
      return `Record<string, ${own(shape.values)}>`;
    case "object":
      return ["{", ...shape.fields.map((field) => printField(field, `${indent}  `)), `${indent}}`].join("\n");
    default:
      return flat;
  }
}

function printField(field: Field, indent: string): string {
  const start = `${indent}${printStart(field)}`;
  return `${start}${printType(field.shape, indent, start.length)};`;
}

function printStart({ name, isOptional }: Field): string {
  return `${printKey(name)}${isOptional ? "?" : ""}: `;
}

function printFlat(shape: Shape): string {
  switch (shape.kind) {
    case "integer":
      return "number";
    case "literals":
      return shape.values.map((value) => JSON.stringify(value)).join(" | ");
    case "nullable":
      return `${printFlat(shape.of)} | null`;
    case "list":
      return isUnion(shape.items) ? `(${printFlat(shape.items)})[]` : `${printFlat(shape.items)}[]`;
    case "record":
      return `Record<string, ${printFlat(shape.values)}>`;
    case "object":
      return `{ ${shape.fields.map((field) => `${printStart(field)}${printFlat(field.shape)}`).join("; ")} }`;
    default:
      return shape.kind;
  }
}

function isUnion(shape: Shape): boolean {
  return shape.kind === "nullable" || (shape.kind === "literals" && shape.values.length > 1);
}

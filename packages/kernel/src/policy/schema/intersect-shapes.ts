import type { CedarShape, RecordShape, ShapeAttribute } from "./cedar-shape.ts";

/** The attributes that have the same type in both records, such as the inputs of two versions of a tool. */
export function intersectRecords(first: RecordShape, second: RecordShape): RecordShape {
  const others = new Map(second.attributes.map((attribute) => [attribute.name, attribute]));
  const attributes: ShapeAttribute[] = [];
  for (const attribute of first.attributes) {
    const other = others.get(attribute.name);
    const shape = other && intersectShapes(attribute.shape, other.shape);
    if (other === undefined || shape === undefined) continue;
    attributes.push({ name: attribute.name, required: attribute.required && other.required, shape });
  }
  return { kind: "record", attributes };
}

function intersectShapes(first: CedarShape, second: CedarShape): CedarShape | undefined {
  if (first.kind === "record") {
    if (second.kind !== "record") return undefined;
    const common = intersectRecords(first, second);
    return common.attributes.length === 0 ? undefined : common;
  }
  if (first.kind === "set")
    return second.kind === "set" && first.element.kind === second.element.kind ? first : undefined;
  return first.kind === second.kind ? first : undefined;
}

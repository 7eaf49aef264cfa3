import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { ownField } from "../../capability/json-reader.ts";
import { BOOL, type CedarShape, LONG, type PlainShape, type RecordShape, recordShape, STRING } from "./cedar-shape.ts";

const PLAIN: ReadonlyMap<JsonValue | undefined, PlainShape> = new Map<JsonValue | undefined, PlainShape>([
  ["String", STRING],
  ["Long", LONG],
  ["Boolean", BOOL],
]);

/** Reads a type written by `shapeToCedar`, or the name of a common type. Throws POLICY_INVALID for anything else. */
export function recordFromCedar(type: JsonValue | undefined, commonTypes: JsonObject): RecordShape {
  if (type === undefined || !isJsonObject(type)) throw unknownType();
  const name = ownField(type, "type");
  const named = typeof name === "string" ? ownField(commonTypes, name) : undefined;
  const shape = shapeFromCedar(named ?? type);
  return shape.kind === "record" ? shape : refuse();
}

function shapeFromCedar(type: JsonValue | undefined): CedarShape {
  if (type === undefined || !isJsonObject(type)) return refuse();
  const name = ownField(type, "type");
  if (name === "Set") {
    const element = shapeFromCedar(ownField(type, "element"));
    return element.kind === "set" || element.kind === "record" ? refuse() : { kind: "set", element };
  }
  if (name !== "Record") return PLAIN.get(name) ?? refuse();
  const attributes = ownField(type, "attributes");
  if (attributes === undefined || !isJsonObject(attributes)) return refuse();
  return recordShape(
    Object.entries(attributes).map(([attribute, inner]) => ({
      name: attribute,
      required: !isJsonObject(inner) || ownField(inner, "required") !== false,
      shape: shapeFromCedar(inner),
    })),
  );
}

function refuse(): never {
  throw unknownType();
}

function unknownType(): KernelError {
  return new KernelError("POLICY_INVALID", "this is not a schema that Narthex wrote: it has a type of another kind");
}

import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { joinField, ownField } from "../../capability/json-reader.ts";
import { quoteText } from "../../capability/quote-text.ts";
import type { CedarShape, PlainShape, RecordShape } from "./cedar-shape.ts";

/**
 * Returns the part of an input that rules can see: exactly the shape that the schema declares. Everything else is
 * dropped.
 *
 * SECURITY: a value that rules should see and cannot, such as a whole number beyond 2^53, is an error, and an error
 * denies. Dropping it would bypass a rule that forbids it.
 */
export function projectInput(input: JsonValue, shape: RecordShape): JsonObject {
  return projectRecord(input, shape, "");
}

function projectRecord(value: JsonValue, shape: RecordShape, field: string): JsonObject {
  const projected: JsonObject = {};
  if (!isJsonObject(value)) {
    if (shape.attributes.length === 0 && field === "") return projected;
    throw unseen(field, "is no object");
  }
  for (const { name, required, shape: inner } of shape.attributes) {
    const found = ownField(value, name);
    if (found !== undefined) projected[name] = project(found, inner, field, name);
    else if (required) throw unseen(joinField(field, name), "is missing");
  }
  return projected;
}

function project(value: JsonValue, shape: CedarShape, parent: string, name: string): JsonValue {
  if (shape.kind === "record") return projectRecord(value, shape, joinField(parent, name));
  if (shape.kind !== "set") {
    if (fits(value, shape)) return withoutMinusZero(value);
  } else if (Array.isArray(value) && value.every((item) => fits(item, shape.element))) {
    return shape.element.kind === "long" ? value.map(withoutMinusZero) : value;
  }
  throw unseen(joinField(parent, name), `is not a ${shape.kind} that policy can compare`);
}

function fits(value: JsonValue, { kind }: PlainShape): boolean {
  switch (kind) {
    case "string":
      return typeof value === "string";
    case "bool":
      return typeof value === "boolean";
    case "long":
      return Number.isSafeInteger(value);
  }
}

function withoutMinusZero(value: JsonValue): JsonValue {
  return value === 0 ? 0 : value;
}

function unseen(field: string, problem: string): KernelError {
  const what = field === "" ? "the input" : quoteText(field);
  return new KernelError("POLICY_ERROR", `rules cannot see what they are asked about: ${what} ${problem}`);
}

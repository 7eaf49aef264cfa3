import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { EntityValue } from "./cedar-value.ts";
import { UnsupportedError } from "./unsupported-error.ts";

/**
 * Reads the fields of a node in Cedar's JSON form. Unknown shapes are rejected as unsupported, so that a later version
 * of the form is never partly misread.
 */
export function readFields(
  node: JsonValue | undefined,
  required: readonly string[],
  optional: readonly string[] = [],
): ReadonlyMap<string, JsonValue> {
  if (!isJsonObject(node)) throw new UnsupportedError("a part of a rule has an unknown shape");
  const fields = new Map(Object.entries(node));
  for (const name of required) {
    if (!fields.has(name)) throw new UnsupportedError(`a part of a rule is without \`${name}\``);
  }
  for (const name of fields.keys()) {
    if (!required.includes(name) && !optional.includes(name)) {
      throw new UnsupportedError(`a part of a rule has \`${name}\`, which means nothing here`);
    }
  }
  return fields;
}

/** Reads an expression: an object with one member, named after its operator. */
export function readOperator(node: JsonValue | undefined): readonly [operator: string, operands: JsonValue] {
  const entries = isJsonObject(node) ? Object.entries(node) : [];
  const [only] = entries;
  if (only === undefined || entries.length > 1) throw new UnsupportedError("an expression has an unknown shape");
  return only;
}

export function readText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw new UnsupportedError("a part of a rule is no text where a text is expected");
}

export function readList(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new UnsupportedError("a part of a rule is no list where a list is expected");
}

/** Reads `{"type", "id"}`, also inside `{"__entity"}`. */
export function readEntity(value: JsonValue | undefined): EntityValue {
  const isEscaped = isJsonObject(value) && Object.hasOwn(value, "__entity");
  const fields = readFields(isEscaped ? readEscaped(value) : value, ["type", "id"]);
  return new EntityValue(readText(fields.get("type")), readText(fields.get("id")));
}

function readEscaped(value: JsonObject): JsonValue | undefined {
  return readFields(value, ["__entity"]).get("__entity");
}

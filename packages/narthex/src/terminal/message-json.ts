import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { type JsonObject, type JsonValue, toHex } from "@narthex/contracts";

/**
 * Converts a message to the JSON that the command prints: every field under its proto name (defaults too, so that
 * scripts can rely on them), bytes as hex, 64-bit integers as numbers, enum values without their prefix, and of a oneof
 * the field that is set.
 */
export function messageToJson(schema: DescMessage, message: object): JsonObject {
  const json: JsonObject = {};
  for (const field of schema.fields) {
    const value = readField(field, message);
    if (value !== undefined) json[field.name] = fieldToJson(field, value);
  }
  return json;
}

function readField(field: DescField, message: object): unknown {
  if (field.oneof === undefined) return Reflect.get(message, field.localName);
  const chosen: unknown = Reflect.get(message, field.oneof.localName);
  if (typeof chosen !== "object" || chosen === null) return undefined;
  return Reflect.get(chosen, "case") === field.localName ? Reflect.get(chosen, "value") : undefined;
}

function fieldToJson(field: DescField, value: unknown): JsonValue {
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map((item) => itemToJson(field, item));
  return itemToJson(field, value);
}

function itemToJson(field: DescField, value: unknown): JsonValue {
  if (field.message !== undefined && typeof value === "object" && value !== null) {
    return messageToJson(field.message, value);
  }
  if (field.enum !== undefined && typeof value === "number") return enumToJson(field.enum, value);
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === "bigint") return bigintToJson(value);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  throw new TypeError(`field \`${field.name}\` has no JSON form`);
}

/** Converts `CONTENT_ROLE_INPUT` of the enum `ContentRole` to `input`. */
function enumToJson(desc: DescEnum, value: number): JsonValue {
  const name = desc.value[value]?.name;
  return name === undefined ? value : name.toLowerCase().slice(desc.sharedPrefix?.length ?? 0);
}

/** Integers that a double cannot hold exactly become strings. */
function bigintToJson(value: bigint): JsonValue {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER)
    ? Number(value)
    : value.toString();
}

import { fromHex } from "@narthex/contracts";
import type { FieldDescription, MessageDescription } from "../../wire/message-layout.ts";

/**
 * A message in the form used in vectors: original field names, bytes as `{"hex": ...}`, integers beyond 2^53 as text.
 */
export type VectorFields = { readonly [name: string]: VectorValue };
type VectorValue = string | number | boolean | VectorFields | readonly VectorValue[];

/** Descriptors also have the name from the proto file. */
interface NamedField extends FieldDescription {
  readonly name: string;
}

const BYTES = 12;
const UINT64 = 4;

/** Converts the fields to the form that `create` takes. */
export function messageInit(description: MessageDescription, fields: VectorFields): Record<string, unknown> {
  const init: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const field = (description.fields as readonly NamedField[]).find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${description.name} has no field ${name}`);
    const made = Array.isArray(value) ? value.map((item) => valueOf(field, item)) : valueOf(field, value);
    if (field.oneof === undefined) init[field.localName] = made;
    else init[field.oneof.localName] = { case: field.localName, value: made };
  }
  return init;
}

function valueOf(field: FieldDescription, value: unknown): unknown {
  if (field.message !== undefined) return messageInit(field.message, value as VectorFields);
  if (field.scalar === BYTES) return bytesOf(value);
  return field.scalar === UINT64 ? BigInt(value as string | number) : value;
}

function bytesOf(value: unknown): Uint8Array {
  const hex: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "hex") : undefined;
  const bytes = typeof hex === "string" ? fromHex(hex) : undefined;
  if (bytes === undefined) throw new Error('bytes are written as {"hex": ...}');
  return bytes;
}

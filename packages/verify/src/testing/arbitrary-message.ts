import * as fc from "fast-check";
import type { FieldDescription, MessageDescription } from "../wire/message-layout.ts";

const STRING = 9;
const BYTES = 12;
const BOOL = 8;
const UINT64 = 4;
const UINT32 = 13;

/** Generates any value of a message, in the form that `create` takes. */
export function arbitraryMessage(description: MessageDescription): fc.Arbitrary<Record<string, unknown>> {
  const plain = description.fields.filter((field) => field.oneof === undefined);
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of plain) members[field.localName] = arbitraryField(field);
  for (const oneof of new Set(description.fields.map((field) => field.oneof?.localName))) {
    if (oneof === undefined) continue;
    const cases = description.fields.filter((field) => field.oneof?.localName === oneof);
    members[oneof] = fc
      .constantFrom(...cases)
      .chain((field) => arbitrarySingle(field).map((value) => ({ case: field.localName, value })));
  }
  return fc.record(members);
}

function arbitraryField(field: FieldDescription): fc.Arbitrary<unknown> {
  return field.fieldKind === "list" ? fc.array(arbitrarySingle(field), { maxLength: 3 }) : arbitrarySingle(field);
}

function arbitrarySingle(field: FieldDescription): fc.Arbitrary<unknown> {
  if (field.message !== undefined) return arbitraryMessage(field.message);
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map((value) => value.number));
  switch (field.scalar) {
    case STRING:
      return fc.string({ unit: "binary", maxLength: 80 });
    case BYTES:
      return fc.uint8Array({ maxLength: 200 });
    case BOOL:
      return fc.boolean();
    case UINT64:
      return fc.maxSafeNat().map(BigInt);
    case UINT32:
      return fc.nat({ max: 0xffffffff });
    default:
      throw new Error(`${field.localName} is of a kind that ledger messages do not use`);
  }
}

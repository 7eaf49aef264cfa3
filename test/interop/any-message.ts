import { type DescField, type DescMessage, type MessageInitShape, ScalarType } from "@bufbuild/protobuf";
import * as fc from "fast-check";

export type AnyInit = MessageInitShape<DescMessage>;

/** Lengths around which one more byte of length is needed, and where writers change their way of writing. */
const LENGTHS = [1, 38, 39, 40, 41, 42, 43, 126, 127, 128, 129, 255, 256, 300, 5000, 16_383, 16_384];

/** Any value of any of a message's fields: absent, default, or at the edges of its type. */
export function anyMessage(schema: DescMessage): fc.Arbitrary<AnyInit> {
  const parts: { [localName: string]: fc.Arbitrary<unknown> } = {};
  for (const member of schema.members) {
    parts[member.localName] =
      member.kind === "oneof"
        ? fc.option(fc.oneof(...member.fields.map(anyCase)), { nil: { case: undefined } })
        : fc.option(anyValue(member), { nil: undefined });
  }
  return fc.record(parts).map((init) => init as AnyInit);
}

function anyCase(field: DescField): fc.Arbitrary<unknown> {
  return anyValue(field).map((value) => ({ case: field.localName, value }));
}

function anyValue(field: DescField): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "message":
      return anyMessage(field.message);
    case "enum":
      // Beyond what is declared: an enumeration of proto3 is open.
      return fc.oneof(fc.constantFrom(...field.enum.values.map(({ number }) => number)), fc.nat(300));
    case "scalar":
      return anyScalar(field.scalar);
    case "list":
      return fc.array(anyItem(field), { maxLength: 4 });
    default:
      throw new TypeError(`${field.parent.typeName}.${field.name}: no values are made of a ${field.fieldKind}`);
  }
}

function anyItem(field: DescField & { fieldKind: "list" }): fc.Arbitrary<unknown> {
  if (field.listKind === "message") return anyMessage(field.message);
  if (field.listKind === "scalar") return anyScalar(field.scalar);
  throw new TypeError(`${field.parent.typeName}.${field.name}: no values are made of a list of enums`);
}

function anyScalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return anyText;
    case ScalarType.BYTES:
      return fc.oneof(
        fc.uint8Array({ maxLength: 80 }),
        anyLength.map((length) => new Uint8Array(length).fill(0xa5)),
      );
    case ScalarType.UINT32:
      return anyInteger(32n).map(Number);
    case ScalarType.UINT64:
      return anyInteger(64n);
    case ScalarType.BOOL:
      return fc.boolean();
    default:
      throw new TypeError(`no values are made of the scalar type ${type}`);
  }
}

const anyLength = fc.oneof({ weight: 4, arbitrary: fc.nat(60) }, fc.constantFrom(...LENGTHS));
const anyText = fc.oneof(
  fc.constantFrom("", "\0", "\ufeff", "\u{10ffff}", "\ufffd", "é".repeat(64)),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.tuple(anyLength, fc.constantFrom("a", "é", "€", "\u{1f600}")).map(([length, unit]) => unit.repeat(length)),
);

/** Near a power of two as often as anywhere. */
function anyInteger(bits: bigint): fc.Arbitrary<bigint> {
  const max = 2n ** bits - 1n;
  const edge = fc
    .tuple(fc.bigInt({ min: 0n, max: bits }), fc.constantFrom(-1n, 0n, 1n))
    .map(([bit, offset]) => 2n ** bit + offset)
    .filter((value) => value >= 0n && value <= max);
  return fc.oneof(edge, fc.bigInt({ min: 0n, max }));
}

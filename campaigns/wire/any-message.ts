import { type DescField, type DescMessage, type MessageInitShape, ScalarType } from "@bufbuild/protobuf";
import { create, toBinary } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";

/** A random message of any type, encoded as protobuf's own library does. */
export function anyMessage(chance: Chance, schema: DescMessage): Uint8Array {
  return toBinary(schema, create(schema, anyInit(chance, schema)));
}

function anyInit(chance: Chance, schema: DescMessage): MessageInitShape<DescMessage> {
  const init: Record<string, unknown> = {};
  for (const member of schema.members) {
    if (member.kind === "oneof") {
      const field = chance.pick(member.fields);
      init[member.localName] = chance.oneIn(8)
        ? { case: undefined }
        : { case: field.localName, value: anyValue(chance, field) };
    } else if (!chance.oneIn(4)) {
      init[member.localName] = anyValue(chance, member);
    }
  }
  return init;
}

function anyValue(chance: Chance, field: DescField): unknown {
  switch (field.fieldKind) {
    case "enum":
      return chance.pick(field.enum.values).number;
    case "message":
      return anyInit(chance, field.message);
    case "list":
      return chance.several(3, () => anyItem(chance, field));
    case "map":
      throw new TypeError("messages have no maps");
    case "scalar":
      return anyScalar(chance, field.scalar);
  }
}

function anyItem(chance: Chance, field: DescField & { fieldKind: "list" }): unknown {
  if (field.listKind === "message") return anyInit(chance, field.message);
  return field.listKind === "scalar" ? anyScalar(chance, field.scalar) : chance.pick(field.enum.values).number;
}

function anyScalar(chance: Chance, type: ScalarType): unknown {
  switch (type) {
    case ScalarType.STRING:
      return anyText(chance);
    case ScalarType.BYTES:
      return chance.bytes(chance.oneIn(3) ? 32 : chance.below(50));
    case ScalarType.BOOL:
      return chance.oneIn(2);
    case ScalarType.UINT64:
      return BigInt(chance.oneIn(3) ? chance.next() * 2 ** chance.below(21) : chance.below(300));
    default:
      return chance.oneIn(3) ? chance.next() : chance.below(300);
  }
}

const UNITS = ["a", "b", "0", "/", ".", "=", "*", "\0", "é", "\u20ac", "\ufeff", "\ufffd", "\u{1f600}", '"', "\\"];

export function anyText(chance: Chance): string {
  return chance.several(chance.oneIn(20) ? 300 : 12, () => chance.pick(UNITS)).join("");
}

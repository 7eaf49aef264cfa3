import type { Chance } from "../chance/chance.ts";
import { BYTE_MUTATIONS, type Mutation } from "./mutate-bytes.ts";
import {
  encodeField,
  encodeVarint,
  FIXED32,
  FIXED64,
  joinFields,
  LENGTH_DELIMITED,
  splitFields,
  VARINT,
  type WireField,
} from "./wire-fields.ts";

type FieldMutation = (chance: Chance, fields: WireField[], other: readonly WireField[]) => Uint8Array | WireField[];

const NOT_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]];
const HUGE_LENGTHS = [0x7fffffff, 0x80000000, 0xffffffff, 2 ** 35];

/** Changes to what a message is made of: each leaves something that looks like fields. */
const FIELD_MUTATIONS: Readonly<Record<string, FieldMutation>> = {
  "a field twice": (chance, fields) => insertAt(chance, fields, chance.pick(fields)),
  "a field of another": (chance, fields, other) =>
    other.length === 0 ? fields : insertAt(chance, fields, chance.pick(other)),
  "a field less": (chance, fields) => fields.toSpliced(chance.below(fields.length), 1),
  "another order": (chance, fields) => chance.shuffle(fields),
  "an unknown field": (chance, fields) => insertAt(chance, fields, anyField(chance, 19 + chance.below(2000))),
  "another number": (chance, fields) => change(chance, fields, (field) => ({ ...field, number: chance.below(20) })),
  "another wire type": (chance, fields) =>
    change(chance, fields, (field) => ({ ...field, wireType: chance.pick([0, 1, 2, 3, 4, 5, 6, 7]) })),
  "a wrong length": (chance, fields) => {
    const at = chance.below(fields.length);
    const field = fields[at] as WireField;
    const length = chance.oneIn(3) ? chance.pick(HUGE_LENGTHS) : Math.max(0, field.value.length + chance.below(9) - 4);
    const lying = [encodeVarint(field.number * 8 + LENGTH_DELIMITED), encodeVarint(length), field.value];
    return Buffer.concat([joinFields(fields.slice(0, at)), ...lying, joinFields(fields.slice(at + 1))]);
  },
  "a long number": (chance, fields) => {
    const at = chance.below(fields.length);
    const { number, wireType, value } = fields[at] as WireField;
    const tag = encodeVarint(number * 8 + wireType, chance.below(3));
    const length = wireType === LENGTH_DELIMITED ? encodeVarint(value.length, chance.below(3)) : new Uint8Array(0);
    return Buffer.concat([joinFields(fields.slice(0, at)), tag, length, value, joinFields(fields.slice(at + 1))]);
  },
  "a default written": (chance, fields) =>
    insertAt(chance, fields, {
      number: 1 + chance.below(18),
      wireType: chance.pick([VARINT, LENGTH_DELIMITED]),
      value: NOTHING,
    }),
  "not UTF-8": (chance, fields) =>
    change(chance, fields, (field) => ({
      ...field,
      value: Buffer.concat([field.value, Uint8Array.from(chance.pick(NOT_UTF8))]),
    })),
  "an oversized field": (chance, fields) =>
    change(chance, fields, (field) => ({
      ...field,
      value: new Uint8Array(chance.pick([257, 300, 1000, 4097])).fill(97 + chance.below(26)),
    })),
  "a number beyond": (chance, fields) =>
    insertAt(chance, fields, { number: 1 + chance.below(18), wireType: VARINT, value: new Uint8Array(11).fill(0xff) }),
  "many fields": (chance, fields) => [...fields, ...Array.from({ length: 120 }, () => chance.pick(fields))],
};

const NOTHING = Uint8Array.of(0);

const BYTE_NAMES = Object.keys(BYTE_MUTATIONS);
const FIELD_NAMES = Object.keys(FIELD_MUTATIONS);

/** An encoded message changed once to three times, mostly in its structure, at any depth. */
export function mutateMessage(chance: Chance, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  let changed = bytes;
  for (let times = chance.oneIn(3) ? 1 + chance.below(3) : 1; times > 0; times--) {
    changed = chance.oneIn(3)
      ? (BYTE_MUTATIONS[chance.pick(BYTE_NAMES)] as Mutation)(chance, changed, other)
      : mutateFields(chance, changed, other, 0);
  }
  return changed;
}

const DEEPEST = 4;

function mutateFields(chance: Chance, bytes: Uint8Array, other: Uint8Array, depth: number): Uint8Array {
  const fields = splitFields(bytes);
  if (fields === undefined || fields.length === 0) return Buffer.concat([bytes, anyFieldBytes(chance)]);
  const inner = fields.findLastIndex((field) => field.wireType === LENGTH_DELIMITED && field.value.length > 1);
  if (depth < DEEPEST && inner >= 0 && chance.oneIn(2)) {
    const field = fields[inner] as WireField;
    const value = mutateFields(chance, field.value, other, depth + 1);
    return joinFields(fields.with(inner, { ...field, value }));
  }
  const changed = (FIELD_MUTATIONS[chance.pick(FIELD_NAMES)] as FieldMutation)(
    chance,
    fields,
    splitFields(other) ?? [],
  );
  return changed instanceof Uint8Array ? changed : joinFields(changed);
}

function insertAt(chance: Chance, fields: readonly WireField[], field: WireField): WireField[] {
  return fields.toSpliced(chance.below(fields.length + 1), 0, field);
}

function change(chance: Chance, fields: readonly WireField[], edit: (field: WireField) => WireField): WireField[] {
  const at = chance.below(fields.length);
  return fields.with(at, edit(fields[at] as WireField));
}

function anyFieldBytes(chance: Chance): Uint8Array {
  return encodeField(anyField(chance, 1 + chance.below(20)));
}

function anyField(chance: Chance, number: number): WireField {
  const wireType = chance.pick([VARINT, FIXED64, LENGTH_DELIMITED, FIXED32]);
  const lengths = { [VARINT]: 1, [FIXED64]: 8, [FIXED32]: 4 } as Readonly<Record<number, number>>;
  const value = chance.bytes(lengths[wireType] ?? chance.below(12));
  return { number, wireType, value: wireType === VARINT ? value.map((byte) => byte & 0x7f) : value };
}

import { Slice } from "./slice.ts";

/**
 * How one field is decoded. Lists contain strings, bytes or messages, one tag each; nothing in the ledger is packed.
 */
export interface FieldLayout {
  readonly number: number;
  readonly name: string;
  readonly type: FieldType;
  readonly delimited: boolean;
  readonly repeated: boolean;
  /** The member of the decoded object for the oneof of this field, if it is in one. */
  readonly oneof: string | undefined;
  /** Checked like every other field, but not part of the decoded object. */
  readonly dropped: boolean;
  readonly message: MessageLayout<unknown> | undefined;
  /** The valid numbers of an enum field. */
  readonly enumNumbers: ReadonlySet<number> | undefined;
}

export type FieldType = "uint32" | "uint64" | "bool" | "enum" | "string" | "bytes" | "message";

/** Everything about a message that decoding needs. `T` is the generated type. */
export interface MessageLayout<T> {
  readonly name: string;
  /** By field number; holes are unknown fields. */
  readonly fields: readonly (FieldLayout | undefined)[];
  /** Creates a message without any fields from the wire; undefined if none of its fields is kept. */
  readonly start: (() => object) | undefined;
  readonly generated?: T;
}

/**
 * The fields to keep, by message name; of other messages, none are kept. Given as functions that create the empty
 * message, because an object literal is created several times faster than any copy.
 */
export type KeptFields = { readonly [message: string]: () => object };

/** The parts of a generated message's descriptor that are needed here. */
export interface MessageDescription {
  readonly name: string;
  readonly fields: readonly FieldDescription[];
}

export interface FieldDescription {
  readonly number: number;
  readonly localName: string;
  readonly fieldKind: string;
  readonly listKind?: string | undefined;
  /** The number of a scalar type in protobuf's own descriptors. */
  readonly scalar?: number | undefined;
  readonly oneof?: { readonly localName: string } | undefined;
  readonly message?: MessageDescription | undefined;
  readonly enum?: { readonly values: readonly { readonly number: number }[] } | undefined;
}

export const NO_BYTES = new Slice(new Uint8Array(0), 0, 0);
export const NO_ITEMS: readonly never[] = Object.freeze([]);
export const NO_CASE = Object.freeze({ case: undefined });

const SCALARS = new Map<number, FieldType>([
  [4, "uint64"],
  [8, "bool"],
  [9, "string"],
  [12, "bytes"],
  [13, "uint32"],
]);

/** Throws at start-up, never on input, if a message uses features that ledger messages must not use. */
export function layoutOf<T>(description: MessageDescription, keptFields: KeptFields): MessageLayout<T> {
  const start = keptFields[description.name];
  const kept = new Set(start === undefined ? [] : Object.keys(start()));
  const fields: (FieldLayout | undefined)[] = [];
  for (const field of description.fields) fields[field.number] = fieldLayout(description, field, kept, keptFields);
  const members = new Set(description.fields.map((field) => field.oneof?.localName ?? field.localName));
  for (const name of kept) if (!members.has(name)) throw new Error(`${description.name} has no field ${name}`);
  // A dense array is read faster than one with holes.
  return { name: description.name, fields: Array.from(fields), start };
}

function fieldLayout(
  owner: MessageDescription,
  field: FieldDescription,
  kept: ReadonlySet<string>,
  keptFields: KeptFields,
): FieldLayout {
  const repeated = field.fieldKind === "list";
  const kind = repeated ? field.listKind : field.fieldKind;
  const type = kind === "message" || kind === "enum" ? kind : SCALARS.get(field.scalar ?? 0);
  const delimited = type === "message" || type === "string" || type === "bytes";
  if (type === undefined || (repeated && !delimited))
    throw new Error(`${owner.name}.${field.localName} is not supported`);
  return {
    number: field.number,
    name: field.localName,
    type,
    delimited,
    repeated,
    oneof: field.oneof?.localName,
    dropped: !kept.has(field.oneof?.localName ?? field.localName),
    message: field.message === undefined ? undefined : layoutOf(field.message, keptFields),
    enumNumbers: field.enum === undefined ? undefined : new Set(field.enum.values.map((value) => value.number)),
  };
}

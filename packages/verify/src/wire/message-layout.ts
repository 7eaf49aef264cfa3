import { Slice } from "./slice.ts";

/** How one field is read. Lists hold strings, bytes or messages, one tag each; nothing in the ledger is packed. */
export interface FieldLayout {
  readonly number: number;
  readonly name: string;
  readonly type: FieldType;
  readonly delimited: boolean;
  readonly repeated: boolean;
  /** The member of the decoded object that holds this field's oneof, if it is in one. */
  readonly oneof: string | undefined;
  /** Checked like every other field, but not part of the decoded object. */
  readonly dropped: boolean;
  readonly message: MessageLayout<unknown> | undefined;
  /** The numbers an enum field may hold. */
  readonly enumNumbers: ReadonlySet<number> | undefined;
}

export type FieldType = "uint32" | "uint64" | "bool" | "enum" | "string" | "bytes" | "message";

/** Everything about a message that reading it needs. `T` is the generated type it stands for. */
export interface MessageLayout<T> {
  readonly name: string;
  /** By field number; holes are unknown fields. */
  readonly fields: readonly (FieldLayout | undefined)[];
  /** A message without any field on the wire; undefined if nothing of it is kept. */
  readonly start: (() => object) | undefined;
  readonly generated?: T;
}

/**
 * The fields a reader wants of each message, by message name; of messages not named, none. Given as functions that
 * make the empty message, because an object literal is made several times faster than any copy.
 */
export type KeptFields = { readonly [message: string]: () => object };

/** As much of a generated message's descriptor as is needed here. */
export interface MessageDescription {
  readonly name: string;
  readonly fields: readonly FieldDescription[];
}

export interface FieldDescription {
  readonly number: number;
  readonly localName: string;
  readonly fieldKind: string;
  readonly listKind?: string | undefined;
  /** A scalar type's number as protobuf's own descriptors give it. */
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

/** Throws at start-up, never on input, for a message that uses what ledger messages may not use. */
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

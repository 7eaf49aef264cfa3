import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

type ScalarKind = "string" | "bytes" | "uint32" | "uint64" | "bool";

interface FieldFacts {
  readonly number: number;
  /** The name from the proto file, prefixed with the names of the enclosing messages: `file_read.path`. */
  readonly path: string;
  readonly localName: string;
  readonly isRepeated: boolean;
  readonly wireType: number;
  /** A single bit, so that one number can hold the set of fields seen so far. */
  readonly bit: number;
  /** The bits of all fields of its oneof, itself included; 0 outside a oneof. */
  readonly oneofBits: number;
  readonly oneof: { readonly localName: string; readonly path: string } | undefined;
}

export type FieldPlan = FieldFacts &
  ({ readonly kind: ScalarKind } | { readonly kind: "message"; readonly message: MessagePlan });

/** A message's descriptor prepared for decoding, with its fields indexed by number. */
export interface MessagePlan {
  readonly schema: DescMessage;
  /** Empty for the outermost message. */
  readonly path: string;
  readonly fields: readonly (FieldPlan | undefined)[];
}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

/** The highest bit that keeps the number positive. */
const MAX_FIELD_NUMBER = 30;

/** Creates a plan. Supports only non-recursive messages with the kinds of fields above. */
export function planMessage(schema: DescMessage, path = ""): MessagePlan {
  const fields: (FieldPlan | undefined)[] = [];
  for (const field of schema.fields) {
    if (field.number > MAX_FIELD_NUMBER) throw new RangeError(`field number ${field.number} of ${schema.name}`);
    fields[field.number] = planField(field, path === "" ? "" : `${path}.`);
  }
  return { schema, path, fields };
}

function planField(field: DescField, prefix: string): FieldPlan {
  const path = prefix + field.name;
  const facts = {
    number: field.number,
    path,
    localName: field.localName,
    isRepeated: field.fieldKind === "list",
    bit: bitOf(field),
    oneofBits: field.oneof?.fields.reduce((bits, sibling) => bits | bitOf(sibling), 0) ?? 0,
    oneof: field.oneof && { localName: field.oneof.localName, path: prefix + field.oneof.name },
  };
  if (field.message !== undefined && field.fieldKind !== "map") {
    return { ...facts, kind: "message", wireType: LENGTH_DELIMITED, message: planMessage(field.message, path) };
  }
  const kind = scalarKind(field);
  return { ...facts, kind, wireType: kind === "string" || kind === "bytes" ? LENGTH_DELIMITED : VARINT };
}

function scalarKind(field: DescField): ScalarKind {
  if (field.fieldKind === "scalar" || field.fieldKind === "list") {
    if (field.scalar === ScalarType.STRING) return "string";
    if (field.scalar === ScalarType.BYTES) return "bytes";
  }
  if (field.fieldKind === "scalar") {
    if (field.scalar === ScalarType.UINT32) return "uint32";
    if (field.scalar === ScalarType.UINT64) return "uint64";
    if (field.scalar === ScalarType.BOOL) return "bool";
  }
  throw new TypeError(`no reader for ${field.name}`);
}

function bitOf(field: DescField): number {
  return 1 << field.number;
}

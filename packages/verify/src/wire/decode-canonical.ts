import { type FieldLayout, type KeptFields, type MessageLayout, NO_BYTES, NO_ITEMS } from "./message-layout.ts";
import { Slice } from "./slice.ts";
import { isUtf8, readText } from "./text.ts";

/** The kept fields of a generated message as plain data, 64-bit integers as numbers, bytes as slices of the input. */
export type Decoded<T, Kept extends KeptFields> = T extends bigint
  ? number
  : T extends Uint8Array
    ? Slice
    : T extends string | number | boolean | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Decoded<Item, Kept>[]
        : T extends { case: infer Case extends string; value: infer Value }
          ? { readonly case: Case; readonly value: Decoded<Value, Kept> }
          : T extends { case: undefined }
            ? { readonly case: undefined }
            : T extends { $typeName: `narthex.v1.${infer Name}` }
              ? { readonly [Key in KeptKey<Name, Kept> & keyof T]: Decoded<T[Key], Kept> }
              : never;

type KeptKey<Name extends string, Kept extends KeptFields> = Name extends keyof Kept
  ? keyof ReturnType<Kept[Name]>
  : never;

/** Why bytes are not the canonical encoding of a message. */
export class Malformed {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Decodes a message and accepts only the one encoding that ledger.md allows for it, so that encoding it again gives the
 * same bytes: fields in ascending order, none unknown, none repeated, no explicit default values, shortest varints,
 * valid UTF-8, one member per oneof. Fields that are not kept are checked all the same.
 *
 * SECURITY: the bytes are untrusted. Lengths are checked before they are used, nesting is limited by the layout, and
 * nothing is copied or allocated by a length stated in the input. Decoded `bytes` alias the input.
 */
export function decodeCanonical<T, Kept extends KeptFields>(
  layout: MessageLayout<T>,
  bytes: Uint8Array,
): Decoded<T, Kept> | Malformed {
  try {
    return readMessage({ bytes, position: 0 }, layout, bytes.length) as Decoded<T, Kept>;
  } catch (fault) {
    if (fault instanceof MalformedError) return new Malformed(fault.message);
    throw fault;
  }
}

class MalformedError extends Error {}

interface Cursor {
  readonly bytes: Uint8Array;
  position: number;
}

type Fields = globalThis.Record<string, unknown>;

const VARINT = 0;
const DELIMITED = 2;
const MAX_UINT32 = 0xffffffff;
const MAX_TAG = MAX_UINT32;
const NOTHING_KEPT: Fields = Object.freeze({});
const DROPPED = Symbol("dropped");

function readMessage(cursor: Cursor, layout: MessageLayout<unknown>, end: number): Fields {
  const message = (layout.start === undefined ? NOTHING_KEPT : layout.start()) as Fields;
  let previous = 0;
  let chosen: FieldLayout | undefined;
  while (cursor.position < end) {
    const tag = readVarint(cursor, end);
    const number = tag > MAX_TAG ? 0 : tag >>> 3;
    const field = layout.fields[number];
    if (field === undefined) throw new MalformedError(`${layout.name} has an unknown field ${number}`);
    if ((tag & 7) !== (field.delimited ? DELIMITED : VARINT)) throw wrong(layout, field, "has the wrong wire type");
    if (number < previous) throw wrong(layout, field, "is out of order");
    if (number === previous && !field.repeated) throw wrong(layout, field, "is there twice");
    previous = number;
    if (field.oneof !== undefined) {
      if (chosen !== undefined) throw wrong(layout, field, `excludes ${chosen.name}`);
      chosen = field;
    }
    const value = field.delimited ? readDelimited(cursor, layout, field, end) : readNumber(cursor, layout, field, end);
    if (value !== DROPPED) keep(message, field, value);
  }
  return message;
}

function keep(message: Fields, field: FieldLayout, value: unknown): void {
  if (field.oneof !== undefined) {
    message[field.oneof] = { case: field.name, value };
  } else if (field.repeated) {
    const items = message[field.name];
    if (items === NO_ITEMS) message[field.name] = [value];
    else (items as unknown[]).push(value);
  } else {
    message[field.name] = value;
  }
}

function readDelimited(cursor: Cursor, layout: MessageLayout<unknown>, field: FieldLayout, end: number): unknown {
  const length = readVarint(cursor, end);
  const start = cursor.position;
  const stop = start + length;
  if (stop > end) throw wrong(layout, field, "is cut off");
  if (field.message !== undefined) {
    const message = readMessage(cursor, field.message, stop);
    return field.dropped ? DROPPED : message;
  }
  if (length === 0 && !field.repeated && field.oneof === undefined) throw wrong(layout, field, "writes a default out");
  cursor.position = stop;
  if (field.type === "bytes") {
    if (field.dropped) return DROPPED;
    return length === 0 ? NO_BYTES : new Slice(cursor.bytes, start, stop);
  }
  const text = field.dropped ? isUtf8(cursor.bytes, start, stop) && DROPPED : readText(cursor.bytes, start, stop);
  if (text === false || text === undefined) throw wrong(layout, field, "is not UTF-8");
  return text;
}

function readNumber(cursor: Cursor, layout: MessageLayout<unknown>, field: FieldLayout, end: number): unknown {
  const value = readVarint(cursor, end);
  if (value === 0 && field.oneof === undefined) throw wrong(layout, field, "writes a default out");
  if (field.type === "uint32" && value > MAX_UINT32) throw wrong(layout, field, "is above 2^32 - 1");
  if (field.type === "bool" && value > 1) throw wrong(layout, field, "is neither true nor false");
  if (field.enumNumbers?.has(value) === false) throw wrong(layout, field, `has no value ${value}`);
  if (field.dropped) return DROPPED;
  return field.type === "bool" ? value === 1 : value;
}

/** At most 2^53 - 1: the ledger contains no larger number, and a double cannot represent every larger one. */
function readVarint(cursor: Cursor, end: number): number {
  const { bytes } = cursor;
  const first = bytes[cursor.position] ?? 0;
  if (first < 0x80 && cursor.position < end) {
    cursor.position++;
    return first;
  }
  let value = 0;
  let unit = 1;
  for (;;) {
    if (cursor.position >= end) throw new MalformedError("a number is cut off");
    const byte = bytes[cursor.position++] ?? 0;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) {
      if (byte === 0 && unit > 1) throw new MalformedError("a number is not written in its shortest form");
      if (value > Number.MAX_SAFE_INTEGER) throw new MalformedError("a number is above 2^53 - 1");
      return value;
    }
    unit *= 128;
    if (unit > Number.MAX_SAFE_INTEGER) throw new MalformedError("a number is above 2^53 - 1");
  }
}

function wrong(layout: MessageLayout<unknown>, field: FieldLayout, what: string): MalformedError {
  return new MalformedError(`${layout.name}.${field.name} ${what}`);
}

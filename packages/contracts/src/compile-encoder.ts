import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";

/**
 * A message as plain data: field names as in generated code, oneofs as `{ case, value }`, 64-bit integers as numbers or
 * bigints, defaults omitted. Messages created with `create` are accepted too.
 */
export type Plain<T> = T extends bigint
  ? bigint | number
  : T extends Uint8Array | string | number | boolean
    ? T
    : T extends readonly (infer U)[]
      ? readonly Plain<U>[]
      : T extends { case: infer C extends string; value: infer V }
        ? { readonly case: C; readonly value: Plain<V> }
        : T extends { case: undefined }
          ? { readonly case: undefined; readonly value?: undefined }
          : {
              readonly [K in Exclude<keyof T, "$typeName" | "$unknown">]?: Plain<Exclude<T[K], undefined>> | undefined;
            };

/** Encodes plain data to the bytes that `toBinary` would produce for the same message. */
export type Encoder<T> = (message: Plain<T>, reserve?: number) => Uint8Array;

/**
 * Compiles a message's descriptor into an encoder several times as fast as `toBinary` of a created message, because it
 * uses no reflection and creates no message object. `reserve` leaves that many bytes free at the front of the result.
 * Throws a TypeError for a message with kinds of fields that the wire and the ledger do not use; the encoder throws a
 * RangeError for a number that does not fit its field. Unknown fields of a decoded message are not written.
 */
export function compileEncoder<T>(schema: DescMessage): Encoder<T> {
  return encoderInto(schema, () => buffer.slice(0, position));
}

/**
 * Compiles an encoder that returns pooled memory: allocating a separate array takes as long as encoding a record.
 *
 * SECURITY: for internal use only: code that holds the array can reach the other arrays in its buffer.
 */
export function compileSharedEncoder<T>(schema: DescMessage): Encoder<T> {
  return encoderInto(schema, () => {
    const encoded = Buffer.allocUnsafe(position);
    text.copy(encoded, 0, 0, position);
    return encoded;
  });
}

function encoderInto<T>(schema: DescMessage, takeOut: () => Uint8Array): Encoder<T> {
  const writeMessage = compileMessage(schema, new Map());
  return (message, reserve = 0) => {
    position = reserve;
    writeMessage(message as PlainRecord);
    const encoded = takeOut();
    if (buffer.length > MAX_KEPT_BYTES) resetBuffer(new Uint8Array(FIRST_BYTES));
    return encoded;
  };
}

type PlainRecord = { readonly [field: string]: unknown };
type MessageWriter = (message: PlainRecord) => void;
type ValueWriter = (value: unknown) => void;

// INVARIANT: encoding is synchronous and never re-entered, so all encoders share one buffer.
const FIRST_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_UINT32 = 0xffff_ffff;
const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;
/** google.protobuf.FeatureSet.FieldPresence.IMPLICIT */
const IMPLICIT_PRESENCE = 2;
let buffer = new Uint8Array(FIRST_BYTES);
let text = textView(buffer);
let position = 0;

function resetBuffer(replacement: Uint8Array<ArrayBuffer>): void {
  buffer = replacement;
  text = textView(buffer);
}

function textView(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function need(bytes: number): void {
  if (position + bytes <= buffer.length) return;
  const grown = new Uint8Array(Math.max(buffer.length * 2, position + bytes));
  grown.set(buffer.subarray(0, position));
  resetBuffer(grown);
}

function compileMessage(schema: DescMessage, known: Map<DescMessage, { write: MessageWriter }>): MessageWriter {
  const seen = known.get(schema);
  if (seen !== undefined) return (message) => seen.write(message);
  const slot = { write: (_message: PlainRecord): void => undefined };
  known.set(schema, slot);

  // Ascending field number is the canonical order; a oneof is written at the position of its members.
  const plain: { readonly number: number; readonly key: string; readonly write: ValueWriter }[] = [];
  for (const field of schema.fields.filter((candidate) => candidate.oneof === undefined)) {
    plain.push({ number: field.number, key: field.localName, write: compileField(field, known) });
  }
  const taken = plain.map((field) => field.number);
  for (const oneof of schema.oneofs) {
    const numbers = oneof.fields.map((field) => field.number);
    if (taken.some((number) => number > Math.min(...numbers) && number < Math.max(...numbers))) {
      throw new TypeError(`a field's number lies between those of the oneof ${oneof.name} of ${schema.typeName}`);
    }
    const cases = new Map(oneof.fields.map((field) => [field.localName, compileMember(field, known)]));
    plain.push({
      number: Math.min(...numbers),
      key: oneof.localName,
      write: (value) => {
        const chosen = value as { readonly case: string | undefined; readonly value: unknown };
        if (chosen.case !== undefined) cases.get(chosen.case)?.(chosen.value);
      },
    });
  }
  plain.sort((left, right) => left.number - right.number);
  const keys = plain.map((field) => field.key);
  const writers = plain.map((field) => field.write);
  slot.write = (message) => {
    for (let i = 0; i < keys.length; i++) {
      const value = message[keys[i] as string];
      if (value !== undefined) (writers[i] as ValueWriter)(value);
    }
  };
  return slot.write;
}

function compileField(field: DescField, known: Map<DescMessage, { write: MessageWriter }>): ValueWriter {
  if (field.fieldKind === "list") {
    const writeItem = compileItem(field, known);
    return (value) => {
      for (const item of value as readonly unknown[]) writeItem(item);
    };
  }
  // In a message made by `create`, an unset optional field cannot be distinguished from its default.
  if (field.fieldKind !== "message" && field.presence !== IMPLICIT_PRESENCE) throw unused(field);
  return compileSingular(field, known, false);
}

function compileItem(
  field: DescField & { fieldKind: "list" },
  known: Map<DescMessage, { write: MessageWriter }>,
): ValueWriter {
  if (field.listKind === "message") return messageField(field.number, compileMessage(field.message, known));
  // Numbers would have to be packed.
  if (field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES) throw unused(field);
  return scalarField(field, field.scalar, true);
}

function compileMember(field: DescField, known: Map<DescMessage, { write: MessageWriter }>): ValueWriter {
  return compileSingular(field, known, true);
}

function compileSingular(
  field: DescField,
  known: Map<DescMessage, { write: MessageWriter }>,
  writeDefault: boolean,
): ValueWriter {
  switch (field.fieldKind) {
    case "message":
      return messageField(field.number, compileMessage(field.message, known));
    case "enum":
      return scalarField(field, ScalarType.UINT32, writeDefault);
    case "scalar":
      return scalarField(field, field.scalar, writeDefault);
    default:
      // A map has no canonical order.
      throw unused(field);
  }
}

function unused(field: DescField): TypeError {
  return new TypeError(`the wire and the ledger use no field like ${field.parent.typeName}.${field.name}`);
}

function messageField(number: number, write: MessageWriter): ValueWriter {
  const tag = (number << 3) | 2;
  return (value) => {
    need(10);
    writeVarint(tag);
    // Assumes a length of one byte, the common case. Longer messages are moved up to make room for their length.
    const start = ++position;
    write(value as PlainRecord);
    const length = position - start;
    const extra = varintSize(length) - 1;
    if (extra > 0) {
      need(extra);
      buffer.copyWithin(start + extra, start, position);
    }
    const end = position + extra;
    position = start - 1;
    writeVarint(length);
    position = end;
  };
}

function scalarField(field: DescField, type: ScalarType, writeDefault: boolean): ValueWriter {
  const tag = field.number << 3;
  switch (type) {
    case ScalarType.STRING:
      return stringField(field.number, writeDefault);
    case ScalarType.BYTES:
      return bytesField(field.number, writeDefault);
    case ScalarType.BOOL:
      return (value) => {
        if (value !== true && !writeDefault) return;
        need(6);
        writeVarint(tag);
        buffer[position++] = value === true ? 1 : 0;
      };
    case ScalarType.UINT32:
    case ScalarType.UINT64: {
      const max = type === ScalarType.UINT32 ? MAX_UINT32 : Number.MAX_SAFE_INTEGER;
      return (value) => {
        const amount = typeof value === "bigint" ? Number(value) : (value as number);
        if (amount === 0 && !writeDefault) return;
        need(15);
        writeVarint(tag);
        if (Number.isSafeInteger(amount) && amount >= 0 && amount <= max) writeVarint(amount);
        else writeLargeVarint(value, type);
      };
    }
    default:
      throw unused(field);
  }
}

function stringField(number: number, writeDefault: boolean): ValueWriter {
  const tag = (number << 3) | 2;
  return (value) => {
    const string = value as string;
    if (string.length === 0 && !writeDefault) return;
    need(15 + string.length * 3);
    writeVarint(tag);
    if (string.length < 40) {
      // Short text is mostly ASCII: its length takes one byte, and it needs no call into native code.
      const start = ++position;
      let i = 0;
      for (; i < string.length; i++) {
        const unit = string.charCodeAt(i);
        if (unit > 127) break;
        buffer[position++] = unit;
      }
      if (i < string.length) position = start + text.write(string, start);
      buffer[start - 1] = position - start;
      return;
    }
    const length = Buffer.byteLength(string);
    writeVarint(length);
    position += text.write(string, position);
  };
}

function bytesField(number: number, writeDefault: boolean): ValueWriter {
  const tag = (number << 3) | 2;
  return (value) => {
    const bytes = value as Uint8Array;
    if (bytes.length === 0 && !writeDefault) return;
    need(15 + bytes.length);
    writeVarint(tag);
    writeVarint(bytes.length);
    buffer.set(bytes, position);
    position += bytes.length;
  };
}

function writeVarint(value: number): void {
  let rest = value;
  while (rest > 0x7f) {
    buffer[position++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  buffer[position++] = rest;
}

/** Writes values that a number cannot represent exactly, and rejects invalid ones. */
function writeLargeVarint(value: unknown, type: ScalarType): void {
  if (type !== ScalarType.UINT64 || typeof value !== "bigint" || value < 0n || value > MAX_UINT64) {
    throw new RangeError(`not an encodable integer: ${String(value)}`);
  }
  // Seven bytes hold 49 bits, and more follow.
  let low = Number(BigInt.asUintN(49, value));
  for (let i = 0; i < 7; i++) {
    buffer[position++] = (low % 128) | 0x80;
    low = Math.floor(low / 128);
  }
  writeVarint(Number(value >> 49n));
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  return size;
}

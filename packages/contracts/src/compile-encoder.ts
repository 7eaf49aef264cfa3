import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";

/**
 * A message given as plain data: field names as in generated code, oneofs as `{ case, value }`, 64-bit integers as
 * numbers or bigints, defaults left out.
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
          ? never
          : {
              readonly [K in Exclude<keyof T, "$typeName" | "$unknown">]?: Plain<Exclude<T[K], undefined>> | undefined;
            };

/** Encodes plain data to the bytes `toBinary` would give for the same message. */
export type Encoder<T> = (message: Plain<T>, reserve?: number) => Uint8Array;

/**
 * Compiles a message's descriptor into a fast encoder: several times `toBinary` of a created message, because nothing
 * is reflected on and no message object is made. `reserve` leaves that many bytes free at the front of the result.
 */
export function compileEncoder<T>(schema: DescMessage): Encoder<T> {
  const writeMessage = compileMessage(schema, new Map());
  return (message, reserve = 0) => {
    position = reserve;
    writeMessage(message as PlainRecord);
    const encoded = buffer.slice(0, position);
    if (buffer.length > MAX_KEPT_BYTES) resetBuffer(new Uint8Array(FIRST_BYTES));
    return encoded;
  };
}

type PlainRecord = { readonly [field: string]: unknown };
type MessageWriter = (message: PlainRecord) => void;
type ValueWriter = (value: unknown) => void;

// INVARIANT: encoding is synchronous and never re-entered, so one buffer serves every encoder.
const FIRST_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 1024 * 1024;
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

  // Ascending field number is the canonical order; a oneof is written where its chosen member stands.
  const plain: { readonly number: number; readonly key: string; readonly write: ValueWriter }[] = [];
  for (const field of schema.fields.filter((candidate) => candidate.oneof === undefined)) {
    plain.push({ number: field.number, key: field.localName, write: compileField(field, known) });
  }
  for (const oneof of schema.oneofs) {
    const cases = new Map(oneof.fields.map((field) => [field.localName, compileMember(field, known)]));
    plain.push({
      number: oneof.fields[0]?.number ?? 0,
      key: oneof.localName,
      write: (value) => {
        const chosen = value as { readonly case: string; readonly value: unknown };
        cases.get(chosen.case)?.(chosen.value);
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
    const writeItem =
      field.listKind === "message"
        ? messageField(field.number, compileMessage(field.message, known))
        : scalarField(field.number, field.listKind === "scalar" ? field.scalar : ScalarType.INT32, true);
    if (field.listKind !== "message" && !isLengthDelimited(field.listKind === "scalar" ? field.scalar : undefined)) {
      throw new Error(`packed lists are not used in ledger or wire messages: ${field.name}`);
    }
    return (value) => {
      for (const item of value as readonly unknown[]) writeItem(item);
    };
  }
  if (field.fieldKind === "map") throw new Error(`maps have no canonical order: ${field.name}`);
  const explicit = field.presence === 1;
  return compileSingular(field, known, explicit);
}

function compileMember(field: DescField, known: Map<DescMessage, { write: MessageWriter }>): ValueWriter {
  return compileSingular(field, known, true);
}

function compileSingular(
  field: DescField,
  known: Map<DescMessage, { write: MessageWriter }>,
  writeDefault: boolean,
): ValueWriter {
  if (field.fieldKind === "message") return messageField(field.number, compileMessage(field.message, known));
  return scalarField(field.number, field.fieldKind === "scalar" ? field.scalar : ScalarType.INT32, writeDefault);
}

function isLengthDelimited(type: ScalarType | undefined): boolean {
  return type === ScalarType.STRING || type === ScalarType.BYTES;
}

function messageField(number: number, write: MessageWriter): ValueWriter {
  const tag = (number << 3) | 2;
  return (value) => {
    need(10);
    writeVarint(tag);
    // One byte of length is the common case; longer messages are moved up by what their length needs.
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

function scalarField(number: number, type: ScalarType, writeDefault: boolean): ValueWriter {
  if (type === ScalarType.STRING) return stringField(number, writeDefault);
  if (type === ScalarType.BYTES) return bytesField(number, writeDefault);
  const tag = number << 3;
  switch (type) {
    case ScalarType.BOOL:
      return (value) => {
        if (value !== true && !writeDefault) return;
        need(6);
        writeVarint(tag);
        buffer[position++] = value === true ? 1 : 0;
      };
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.INT32:
      return (value) => {
        const amount = typeof value === "bigint" ? Number(value) : (value as number);
        if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not an encodable integer: ${amount}`);
        if (amount === 0 && !writeDefault) return;
        need(15);
        writeVarint(tag);
        writeVarint(amount);
      };
    default:
      throw new Error(`scalar type ${type} is not used in ledger or wire messages`);
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
      // Short text is mostly ASCII: one byte of length, and no call into native code.
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

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  return size;
}

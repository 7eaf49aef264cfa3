/** One field of an encoded message, as it stands there: nothing is interpreted. */
export interface WireField {
  readonly number: number;
  readonly wireType: number;
  /** The value's bytes; without the length of a length-delimited one. */
  readonly value: Uint8Array;
}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

/** The fields of a message; undefined where the bytes are none. Knows the encoding and no message. */
export function splitFields(bytes: Uint8Array): WireField[] | undefined {
  const fields: WireField[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === undefined) return undefined;
    const wireType = tag.value & 7;
    const end = endOfValue(bytes, tag.end, wireType);
    if (end === undefined) return undefined;
    fields.push({ number: Math.floor(tag.value / 8), wireType, value: bytes.subarray(end.from, end.to) });
    at = end.to;
  }
  return fields;
}

function endOfValue(bytes: Uint8Array, at: number, wireType: number): { from: number; to: number } | undefined {
  const span = (from: number, to: number) => (to <= bytes.length ? { from, to } : undefined);
  switch (wireType) {
    case VARINT: {
      const number = readVarint(bytes, at);
      return number && span(at, number.end);
    }
    case FIXED64:
      return span(at, at + 8);
    case LENGTH_DELIMITED: {
      const length = readVarint(bytes, at);
      return length && span(length.end, length.end + length.value);
    }
    case FIXED32:
      return span(at, at + 4);
    default:
      return undefined;
  }
}

function readVarint(bytes: Uint8Array, from: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = from; at < Math.min(bytes.length, from + 10); at++) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (at - from));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

export function joinFields(fields: readonly WireField[]): Uint8Array {
  return Buffer.concat(fields.map(encodeField));
}

export function encodeField({ number, wireType, value }: WireField): Uint8Array {
  const tag = encodeVarint(number * 8 + wireType);
  return Buffer.concat(wireType === LENGTH_DELIMITED ? [tag, encodeVarint(value.length), value] : [tag, value]);
}

/** In its shortest form, or with so many bytes more than it needs. */
export function encodeVarint(value: number, extra = 0): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  for (let i = 0; i < extra; i++) {
    bytes.push((bytes.pop() ?? 0) + 128, 0);
  }
  return Uint8Array.from(bytes);
}

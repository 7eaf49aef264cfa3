import type { ContentDraft } from "@narthex/kernel";

/** An item as passed by the kernel, or with plain numbers as read from disk. */
type DraftItem = Omit<ContentDraft, "role" | "place"> & {
  readonly role?: number | undefined;
  readonly place?: number | undefined;
};

/** The fields of a content item that the index needs; its bytes are skipped. */
export interface ScannedItem {
  role: number;
  /** One character per byte: a digest is used as a map key before it is written. */
  digest: string;
  size: number;
  place: number;
  labels: string[];
}

/** Timestamps of an encoded `Record`. */
export interface RecordTimes {
  logicalTimeMs: number;
  wallTimeMs: number;
}

const ROLE = 1;
const DIGEST = 2;
const NONCE = 3;
const SIZE = 4;
const PLACE = 5;
const DATA = 6;
const LABELS = 7;
const RECORD_LOGICAL_TIME = 5;
const RECORD_WALL_TIME = 6;
/** Maximum size of tags, lengths and numbers of one item. */
const ITEM_OVERHEAD = 64;

/** Upper bound of the encoded size of a `RecordContent` with these items. */
export function boundRecordContent(items: readonly DraftItem[]): number {
  let bound = 0;
  for (const item of items) {
    bound += ITEM_OVERHEAD + (item.digest?.length ?? 0) + (item.nonce?.length ?? 0) + (item.data?.length ?? 0);
    if (item.labels !== undefined) for (const label of item.labels) bound += 8 + label.length * 3;
  }
  return bound;
}

/**
 * Encodes `RecordContent { items }` into a buffer that has room for it, and returns the end offset.
 *
 * Hand-written because it runs once per record on the kernel's thread and writes in place; a test compares its bytes
 * with those of the generated encoder.
 */
export function writeRecordContent(buffer: Buffer, start: number, items: readonly DraftItem[]): number {
  let end = start;
  for (const item of items) {
    buffer[end++] = (1 << 3) | 2;
    const size = measureItem(item);
    end = writeVarint(buffer, end, size);
    end = writeItem(buffer, end, item);
  }
  return end;
}

/** Encodes an item without its digest, nonce and bytes, including its tag. */
export function writeTombstone({ role, size, labels }: ScannedItem, place: number): Buffer {
  const item = { role, size, place, labels };
  const room = Buffer.alloc(boundRecordContent([item]));
  return room.subarray(0, writeRecordContent(room, 0, [item]));
}

function measureItem(item: DraftItem): number {
  let total = measureNumber(item.role) + measureBytes(item.digest) + measureBytes(item.nonce);
  total += measureNumber(item.size) + measureNumber(item.place) + measureBytes(item.data);
  if (item.labels === undefined) return total;
  for (const label of item.labels) {
    const length = Buffer.byteLength(label);
    total += 1 + varintSize(length) + length;
  }
  return total;
}

function measureNumber(value: number | bigint | undefined): number {
  const number = Number(value ?? 0);
  return number === 0 ? 0 : 1 + varintSize(number);
}

function measureBytes(value: Uint8Array | undefined): number {
  return value === undefined || value.length === 0 ? 0 : 1 + varintSize(value.length) + value.length;
}

function writeItem(buffer: Buffer, start: number, item: DraftItem): number {
  let end = writeNumber(buffer, start, ROLE, item.role);
  end = writeBytes(buffer, end, DIGEST, item.digest);
  end = writeBytes(buffer, end, NONCE, item.nonce);
  end = writeNumber(buffer, end, SIZE, item.size);
  end = writeNumber(buffer, end, PLACE, item.place);
  end = writeBytes(buffer, end, DATA, item.data);
  if (item.labels === undefined) return end;
  for (const label of item.labels) {
    buffer[end++] = (LABELS << 3) | 2;
    end = writeVarint(buffer, end, Buffer.byteLength(label));
    end += buffer.write(label, end);
  }
  return end;
}

function writeNumber(buffer: Buffer, end: number, field: number, value: number | bigint | undefined): number {
  const number = Number(value ?? 0);
  if (number === 0) return end;
  buffer[end] = field << 3;
  return writeVarint(buffer, end + 1, number);
}

function writeBytes(buffer: Buffer, end: number, field: number, value: Uint8Array | undefined): number {
  if (value === undefined || value.length === 0) return end;
  buffer[end] = (field << 3) | 2;
  const start = writeVarint(buffer, end + 1, value.length);
  buffer.set(value, start);
  return start + value.length;
}

function writeVarint(buffer: Buffer, end: number, value: number): number {
  let rest = value;
  while (rest > 0x7f) {
    buffer[end++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  buffer[end++] = rest;
  return end;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/**
 * Scans the items of an encoded `RecordContent`, without copying their bytes. Throws a RangeError on malformed input.
 */
export function scanRecordContent(content: Uint8Array): ScannedItem[] {
  const items: ScannedItem[] = [];
  const cursor = new Cursor(content);
  while (cursor.position < content.length) {
    const tag = cursor.varint();
    if (tag === ((1 << 3) | 2)) items.push(scanItem(cursor, cursor.fieldEnd()));
    else cursor.skip(tag & 7);
  }
  return items;
}

/**
 * Returns start and end of each item of an encoded `RecordContent`, including its tag. Throws as `scanRecordContent`
 * does.
 */
export function itemSpans(content: Uint8Array): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const cursor = new Cursor(content);
  while (cursor.position < content.length) {
    const start = cursor.position;
    const tag = cursor.varint();
    cursor.skip(tag & 7);
    if (tag === ((1 << 3) | 2)) spans.push({ start, end: cursor.position });
  }
  return spans;
}

function scanItem(cursor: Cursor, end: number): ScannedItem {
  const item: ScannedItem = { role: 0, digest: "", size: 0, place: 0, labels: [] };
  while (cursor.position < end) {
    const tag = cursor.varint();
    if (tag === ROLE << 3) item.role = cursor.varint();
    else if (tag === ((DIGEST << 3) | 2)) item.digest = cursor.text("latin1");
    else if (tag === SIZE << 3) item.size = cursor.varint();
    else if (tag === PLACE << 3) item.place = cursor.varint();
    else if (tag === ((LABELS << 3) | 2)) item.labels.push(cursor.text("utf8"));
    else cursor.skip(tag & 7);
  }
  if (cursor.position !== end) throw new RangeError("encoded message has a field beyond its end");
  return item;
}

/**
 * Scans the timestamps of an encoded `Record`, without decoding its entries. Throws a RangeError on malformed input.
 */
export function scanRecordTimes(record: Uint8Array): RecordTimes {
  const times: RecordTimes = { logicalTimeMs: 0, wallTimeMs: 0 };
  const cursor = new Cursor(record);
  while (cursor.position < record.length) {
    const tag = cursor.varint();
    if (tag === RECORD_LOGICAL_TIME << 3) times.logicalTimeMs = cursor.varint();
    else if (tag === RECORD_WALL_TIME << 3) times.wallTimeMs = cursor.varint();
    else cursor.skip(tag & 7);
  }
  return times;
}

class Cursor {
  readonly #bytes: Buffer;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.#bytes[this.position++];
      if (byte === undefined) throw new RangeError("encoded message ends inside a number");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new RangeError("encoded message has a number of more than ten bytes");
  }

  /** Reads a length and returns the end of the field. */
  fieldEnd(): number {
    const length = this.varint();
    const end = this.position + length;
    if (end > this.#bytes.length) throw new RangeError("encoded message ends inside a field");
    return end;
  }

  text(encoding: "latin1" | "utf8"): string {
    const end = this.fieldEnd();
    const start = this.position;
    this.position = end;
    return this.#bytes.toString(encoding, start, end);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 2) this.position = this.fieldEnd();
    else throw new RangeError(`encoded message has a field of wire type ${wireType}`);
  }
}

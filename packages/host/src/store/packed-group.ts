import type { ErasedItem, StateTable, StoreWrite } from "@narthex/kernel";
import { boundRecordContent, writeRecordContent } from "./record-content.ts";

/**
 * Format in which a group of writes is sent to the writer thread: one transferred buffer, without cloning.
 *
 * Per write: index and sequence as doubles, then the lengths of chain, request id, hash, record and content and the
 * numbers of state changes and erasures as u32, then those bytes; per state change the table's number as u8, the
 * lengths of key and value as u32, then those bytes; per erasure the record's index as a double and the item's position
 * as u32. Little-endian. Used only between two threads of one process.
 */
const HEADER_BYTES = 2 * 8 + 7 * 4;
const CHANGE_BYTES = 1 + 2 * 4;
const ERASURE_BYTES = 8 + 4;
const REMOVED = 0xffffffff;
const FIRST_CAPACITY = 256 * 1024;
const NONE: readonly ErasedItem[] = [];

/** A table's number is its position here. Only append: the numbers are stored on disk. */
export const STATE_TABLES: readonly StateTable[] = [
  "sessions",
  "leases",
  "intents",
  "artifacts",
  "dedupe",
  "tokens",
  "meta",
  "approvals",
  "workspaces",
  "erasing",
];

const TABLE_NUMBERS: ReadonlyMap<string, number> = new Map(STATE_TABLES.map((table, number) => [table, number]));

export function isStateTable(name: string): name is StateTable {
  return TABLE_NUMBERS.has(name);
}

export function tableNumber(table: StateTable): number {
  const number = TABLE_NUMBERS.get(table);
  if (number === undefined) throw new TypeError(`no state table is called ${table}`);
  return number;
}

/** Writes gathered for one commit. */
export class GroupPacker {
  #buffer: Buffer<ArrayBuffer>;
  #view: DataView;
  #length = 0;
  #count = 0;

  constructor(reuse: ArrayBuffer = new ArrayBuffer(FIRST_CAPACITY)) {
    this.#buffer = Buffer.from(reuse);
    this.#view = new DataView(reuse);
  }

  get byteLength(): number {
    return this.#length;
  }

  get count(): number {
    return this.#count;
  }

  /** The packer's memory, for transfer: the packer cannot be used afterwards. */
  get memory(): ArrayBuffer {
    return this.#buffer.buffer;
  }

  add(write: StoreWrite): void {
    this.#reserve(boundWrite(write));
    const { chain, requestId, hash, record, content, state, erasures = NONE } = write;
    const buffer = this.#buffer;
    const view = this.#view;
    const start = this.#length;
    let end = start + HEADER_BYTES;
    const chainEnd = writeText(buffer, end, chain);
    const requestIdEnd = writeText(buffer, chainEnd, requestId);
    buffer.set(hash, requestIdEnd);
    const hashEnd = requestIdEnd + hash.length;
    buffer.set(record, hashEnd);
    const recordEnd = hashEnd + record.length;
    const contentEnd = writeRecordContent(buffer, recordEnd, content);
    view.setFloat64(start, write.index, true);
    view.setFloat64(start + 8, write.sequence, true);
    view.setUint32(start + 16, chainEnd - end, true);
    view.setUint32(start + 20, requestIdEnd - chainEnd, true);
    view.setUint32(start + 24, hash.length, true);
    view.setUint32(start + 28, record.length, true);
    view.setUint32(start + 32, contentEnd - recordEnd, true);
    view.setUint32(start + 36, state.length, true);
    view.setUint32(start + 40, erasures.length, true);
    end = contentEnd;
    for (const change of state) {
      buffer[end] = tableNumber(change.table);
      const keyStart = end + CHANGE_BYTES;
      const keyEnd = writeText(buffer, keyStart, change.key);
      view.setUint32(end + 1, keyEnd - keyStart, true);
      view.setUint32(end + 5, change.value === undefined ? REMOVED : change.value.length, true);
      end = keyEnd;
      if (change.value !== undefined) {
        buffer.set(change.value, end);
        end += change.value.length;
      }
    }
    for (const { recordIndex, item } of erasures) {
      view.setFloat64(end, recordIndex, true);
      view.setUint32(end + 8, item, true);
      end += ERASURE_BYTES;
    }
    this.#length = end;
    this.#count++;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const memory = new ArrayBuffer(Math.max(this.#buffer.length * 2, needed));
    const grown = Buffer.from(memory);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
    this.#view = new DataView(memory);
  }
}

/** Upper bound of the packed size of one write. */
export function boundWrite(write: StoreWrite): number {
  let bound = HEADER_BYTES + write.chain.length * 3 + write.requestId.length * 3 + write.hash.length;
  bound += write.record.length + boundRecordContent(write.content);
  for (const change of write.state) bound += CHANGE_BYTES + change.key.length * 3 + (change.value?.length ?? 0);
  bound += (write.erasures?.length ?? 0) * ERASURE_BYTES;
  return bound;
}

/** Names are almost always short and ASCII; for those a loop is faster than a call into native code. */
function writeText(buffer: Buffer, start: number, text: string): number {
  const { length } = text;
  if (length > 64) return start + buffer.write(text, start);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return start + buffer.write(text, start);
    buffer[start + i] = unit;
  }
  return start + length;
}

/** Receives the unpacked parts. Byte arrays are views into the group's memory. */
export interface GroupVisitor {
  record(
    index: number,
    chain: string,
    sequence: number,
    requestId: string,
    hash: Uint8Array,
    record: Uint8Array,
    content: Uint8Array,
  ): void;
  state(table: number, key: string, value: Uint8Array | undefined): void;
  erase(recordIndex: number, item: number): void;
}

/** Visits every part of a group, in the order it was packed. */
export function visitGroup(memory: ArrayBuffer, byteLength: number, visitor: GroupVisitor): void {
  const buffer = Buffer.from(memory);
  const view = new DataView(memory);
  let start = 0;
  while (start < byteLength) {
    const chainStart = start + HEADER_BYTES;
    const requestIdStart = chainStart + view.getUint32(start + 16, true);
    const hashStart = requestIdStart + view.getUint32(start + 20, true);
    const hashLength = view.getUint32(start + 24, true);
    const recordStart = hashStart + hashLength;
    const recordLength = view.getUint32(start + 28, true);
    const contentStart = recordStart + recordLength;
    const contentLength = view.getUint32(start + 32, true);
    visitor.record(
      view.getFloat64(start, true),
      buffer.toString("utf8", chainStart, requestIdStart),
      view.getFloat64(start + 8, true),
      buffer.toString("utf8", requestIdStart, hashStart),
      new Uint8Array(memory, hashStart, hashLength),
      new Uint8Array(memory, recordStart, recordLength),
      new Uint8Array(memory, contentStart, contentLength),
    );
    let end = contentStart + contentLength;
    for (let left = view.getUint32(start + 36, true); left > 0; left--) {
      const keyStart = end + CHANGE_BYTES;
      const keyEnd = keyStart + view.getUint32(end + 1, true);
      const valueLength = view.getUint32(end + 5, true);
      const removed = valueLength === REMOVED;
      const table = view.getUint8(end);
      const value = removed ? undefined : new Uint8Array(memory, keyEnd, valueLength);
      visitor.state(table, buffer.toString("utf8", keyStart, keyEnd), value);
      end = removed ? keyEnd : keyEnd + valueLength;
    }
    for (let left = view.getUint32(start + 40, true); left > 0; left--) {
      visitor.erase(view.getFloat64(end, true), view.getUint32(end + 8, true));
      end += ERASURE_BYTES;
    }
    start = end;
  }
}

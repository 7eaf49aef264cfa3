const INITIAL_BYTES = 16 * 1024;
/** A larger buffer is given back after use. */
const KEPT_BYTES = 1024 * 1024;
/** Up to these lengths writing each byte or character is faster than a native call. */
const SHORT_BYTES = 64;
const SHORT_TEXT = 64;

/**
 * Writes protobuf's primitives from the end of a buffer towards its beginning: a length is written after what it
 * measures, so nothing is measured twice or moved.
 */
export class BackwardWriter {
  #buffer = Buffer.alloc(INITIAL_BYTES);
  #start = INITIAL_BYTES;

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  reset(): void {
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.alloc(INITIAL_BYTES);
    this.#start = this.#buffer.length;
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    const bytes = new Uint8Array(this.length);
    bytes.set(this.#buffer.subarray(this.#start));
    return bytes;
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    if (value < 0x80) {
      this.#reserve(1);
      this.#buffer[this.#start] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#reserve(size);
    let at = this.#start;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[at++] = (rest % 0x80) | 0x80;
    this.#buffer[at] = rest;
  }

  uint64(value: bigint): void {
    if (value <= Number.MAX_SAFE_INTEGER) {
      this.varint(Number(value));
      return;
    }
    // Seven bytes hold 49 bits, and every one of them goes on.
    const high = value >> 49n;
    this.varint(Number(high));
    this.#reserve(7);
    let low = Number(BigInt.asUintN(49, value));
    for (let i = 0; i < 7; i++) {
      this.#buffer[this.#start + i] = (low % 0x80) | 0x80;
      low = Math.floor(low / 0x80);
    }
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    if (value.length > SHORT_BYTES) {
      this.#buffer.set(value, this.#start);
      return;
    }
    for (let i = 0; i < value.length; i++) this.#buffer[this.#start + i] = value[i] ?? 0;
  }

  text(value: string): void {
    if (value.length <= SHORT_TEXT && this.#ascii(value)) return;
    const length = Buffer.byteLength(value, "utf8");
    this.#reserve(length);
    this.#buffer.write(value, this.#start, length, "utf8");
  }

  #ascii(value: string): boolean {
    this.#reserve(value.length);
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) {
        this.#start += value.length;
        return false;
      }
      this.#buffer[this.#start + i] = unit;
    }
    return true;
  }

  #reserve(count: number): void {
    if (count > this.#start) {
      const written = this.length;
      const grown = Buffer.alloc(Math.max(this.#buffer.length * 2, written + count));
      grown.set(this.#buffer.subarray(this.#start), grown.length - written);
      this.#buffer = grown;
      this.#start = grown.length - written;
    }
    this.#start -= count;
  }
}

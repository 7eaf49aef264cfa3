/** Shorter ranges are copied in JavaScript: a call into the engine costs more. */
const SHORT = 96;
/** Bytes copied per step. The last step may copy too many; the excess is overwritten later. */
const STEP = 4;

/** Writes bytes one after the other to a growing buffer. */
export class ByteSink {
  bytes: Uint8Array;
  at = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Ensures capacity for this many more bytes. */
  reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }

  byte(value: number): void {
    if (this.at === this.bytes.length) this.reserve(1);
    this.bytes[this.at++] = value;
  }

  twoBytes(first: number, second: number): void {
    const { at } = this;
    if (at + 2 > this.bytes.length) this.reserve(2);
    const { bytes } = this;
    bytes[at] = first;
    bytes[at + 1] = second;
    this.at = at + 2;
  }

  u32(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at++] = rest;
  }

  /** Writes a signed LEB128 number, which must be a safe integer. */
  signed(value: number): void {
    let rest = value;
    while (rest < -64 || rest > 63) {
      this.byte((((rest % 0x80) + 0x80) % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest & 0x7f);
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.at + length + STEP > this.bytes.length) this.reserve(length + STEP);
    if (length < SHORT && end + STEP <= source.length) {
      const { bytes } = this;
      let to = this.at;
      for (let from = start; from < end; from += STEP) {
        bytes[to] = source[from] ?? 0;
        bytes[to + 1] = source[from + 1] ?? 0;
        bytes[to + 2] = source[from + 2] ?? 0;
        bytes[to + 3] = source[from + 3] ?? 0;
        to += STEP;
      }
    } else {
      this.bytes.set(source.subarray(start, end), this.at);
    }
    this.at += length;
  }

  all(source: Uint8Array): void {
    this.copy(source, 0, source.length);
  }

  /** Reserves five bytes for a length that is not known yet. Returns the position where the counted bytes begin. */
  reserveLength(): number {
    this.reserve(5);
    this.at += 5;
    return this.at;
  }

  fillLength(start: number): void {
    let rest = this.at - start;
    for (let index = 5; index > 1; index--) {
      this.bytes[start - index] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[start - 1] = rest;
  }

  /**
   * The written bytes in a buffer of exact size. Copied instead of transferred: once a process has transferred a
   * buffer, its code checks at every access to any byte array whether the buffer is detached.
   */
  take(): Uint8Array {
    return this.bytes.slice(0, this.at);
  }
}

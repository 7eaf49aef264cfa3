import { Rejection } from "./meter-reason.ts";

/** SECURITY: names that differ in their bytes must stay different, also if one begins with a byte order mark. */
const NAMES = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a module from start to end. V8 has validated it before; anything unexpected throws a Rejection. */
export class ByteSource {
  readonly bytes: Uint8Array;
  at: number;
  end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    const byte = this.at < this.end ? this.bytes[this.at] : undefined;
    if (byte === undefined) throw new Rejection("invalid", this.at, "it ends in the middle");
    this.at++;
    return byte;
  }

  /** Reads an unsigned number of at most 32 bits. */
  u32(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift <= 28; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) break;
        return value;
      }
    }
    throw new Rejection("invalid", this.at, "a number is too long");
  }

  /** Skips a LEB128 number of any type. */
  skipNumber(): void {
    for (let length = 0; length < 10; length++) if (this.byte() < 0x80) return;
    throw new Rejection("invalid", this.at, "a number is too long");
  }

  skip(length: number): void {
    if (length > this.end - this.at) throw new Rejection("invalid", this.at, "it ends in the middle");
    this.at += length;
  }

  /** Reads a length and that many bytes. */
  span(): Uint8Array {
    const length = this.u32();
    const start = this.at;
    this.skip(length);
    return this.bytes.subarray(start, this.at);
  }

  name(): string {
    const at = this.at;
    try {
      return NAMES.decode(this.span());
    } catch (fault) {
      if (fault instanceof TypeError) throw new Rejection("invalid", at, "a name is no UTF-8");
      throw fault;
    }
  }
}

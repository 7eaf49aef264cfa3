const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Thrown if the rest of the bytes cannot or need not be decoded. */
export class WireProblem extends Error {
  readonly rule: "malformed" | "max_length" | "max_items";

  constructor(message: string, rule: WireProblem["rule"] = "malformed") {
    super(message);
    this.rule = rule;
  }
}

/**
 * Reads protobuf's primitives.
 *
 * SECURITY: every read is checked against the end of the innermost message before it happens, so a length or varint
 * from an attacker cannot reach beyond the message or the buffer, and allocates nothing.
 */
export class WireReader {
  pos = 0;
  /** The field being read, for the error if the bytes end early. */
  path = "";
  readonly #bytes: Uint8Array;
  readonly #buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A field's number and wire type, as number * 8 + type. */
  tag(end: number): number {
    const tag = this.uint32(end);
    if (tag < 8) throw new WireProblem("a field has the number 0");
    return tag;
  }

  uint32(end: number): number {
    const first = this.#bytes[this.pos];
    if (first !== undefined && first < 0x80 && this.pos < end) {
      this.pos++;
      return first;
    }
    let value = 0;
    for (let scale = 1; scale <= 2 ** 28; scale *= 2 ** 7) {
      const byte = this.#byte(end);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > 0xffffffff) break;
        return value;
      }
    }
    throw new WireProblem("a number does not fit 32 bits");
  }

  uint64(end: number): bigint {
    let low = 0;
    for (let scale = 1; scale <= 2 ** 42; scale *= 2 ** 7) {
      const byte = this.#byte(end);
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(low);
    }
    let high = 0;
    for (let scale = 1; scale <= 2 ** 14; scale *= 2 ** 7) {
      const byte = this.#byte(end);
      high += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (high > 0x7fff) break;
        return BigInt(low) + (BigInt(high) << 49n);
      }
    }
    throw new WireProblem("a number does not fit 64 bits");
  }

  bool(end: number): boolean {
    const value = this.uint32(end);
    if (value > 1) throw new WireProblem("a truth value is neither 0 nor 1");
    return value === 1;
  }

  /** Reads the length of a length-delimited field and returns the position of its end. */
  lengthDelimited(end: number): number {
    const length = this.uint32(end);
    if (length > end - this.pos) throw new WireProblem(`${length} bytes are announced and ${end - this.pos} are left`);
    return this.pos + length;
  }

  /** Undefined if the bytes up to `end` are not UTF-8. */
  text(end: number): string | undefined {
    const start = this.pos;
    this.pos = end;
    const text = this.#buffer.toString("utf8", start, end);
    // Invalid UTF-8 becomes U+FFFD, but the text may also contain U+FFFD itself.
    return text.includes("\ufffd") ? this.#strictText(start, end) : text;
  }

  /** A view of the bytes up to `end`, not a copy. */
  view(end: number): Uint8Array {
    const start = this.pos;
    this.pos = end;
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start);
  }

  skip(count: number, end: number): void {
    if (count > end - this.pos) throw new WireProblem("the bytes end within a field");
    this.pos += count;
  }

  #byte(end: number): number {
    const byte = this.#bytes[this.pos];
    if (byte === undefined || this.pos >= end) throw new WireProblem("the bytes end within a number");
    this.pos++;
    return byte;
  }

  #strictText(start: number, end: number): string | undefined {
    try {
      return decoder.decode(this.#bytes.subarray(start, end));
    } catch {
      return undefined;
    }
  }
}

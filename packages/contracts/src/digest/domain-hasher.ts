import { blake3 } from "./blake3.ts";

const TAG_BYTES = 32;
const INITIAL_BYTES = 4096;
/** Up to this length writing each character is faster than a native call. */
const SHORT_TEXT = 64;
const encoder = new TextEncoder();

/**
 * BLAKE3 over a domain and the data after it. A domain is 32 bytes: an ASCII tag padded with zeros.
 *
 * INVARIANT: every hash of structured data begins with its own domain, and every part but the last has a fixed or
 * stated length, so two different structures never hash the same bytes.
 */
export class DomainHasher {
  #buffer: Uint8Array = new Uint8Array(INITIAL_BYTES);
  #length = TAG_BYTES;

  constructor(tag: string) {
    for (let i = 0; i < tag.length; i++) this.#buffer[i] = tag.charCodeAt(i);
  }

  /** Starts a new hash and discards any unfinished one. */
  start(): this {
    this.#length = TAG_BYTES;
    return this;
  }

  bytes(part: Uint8Array): this {
    this.#reserve(part.length);
    this.#buffer.set(part, this.#length);
    this.#length += part.length;
    return this;
  }

  /** Appends text in UTF-8. */
  text(part: string): this {
    this.#reserve(part.length * 3);
    this.#length += this.#write(part, this.#length);
    return this;
  }

  /** Appends text in UTF-8, preceded by its length as four bytes, big-endian. */
  measuredText(part: string): this {
    this.#reserve(part.length * 3 + 4);
    const at = this.#length;
    const size = this.#write(part, at + 4);
    this.#buffer[at] = size >>> 24;
    this.#buffer[at + 1] = size >>> 16;
    this.#buffer[at + 2] = size >>> 8;
    this.#buffer[at + 3] = size;
    this.#length = at + 4 + size;
    return this;
  }

  digest(): Uint8Array {
    const digest = blake3(this.#buffer.subarray(0, this.#length));
    if (this.#buffer.length > INITIAL_BYTES) this.#buffer = this.#buffer.slice(0, INITIAL_BYTES);
    return digest;
  }

  #write(text: string, at: number): number {
    if (text.length <= SHORT_TEXT) {
      let i = 0;
      for (; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (unit > 0x7f) break;
        this.#buffer[at + i] = unit;
      }
      if (i === text.length) return i;
    }
    return encoder.encodeInto(text, this.#buffer.subarray(at)).written;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grown = new Uint8Array(this.#length + count);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

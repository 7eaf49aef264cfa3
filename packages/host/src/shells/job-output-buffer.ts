const FIRST_BYTES = 4096;

/** Keeps the most recent output of a job, up to a limit. */
export class JobOutputBuffer {
  readonly #maxBytes: number;
  /** Grows up to twice the limit, so that content is rarely moved. */
  #buffer = Buffer.alloc(FIRST_BYTES);
  #length = 0;
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Total number of bytes that were printed. */
  get size(): number {
    return this.#size;
  }

  /** Number of bytes at the beginning that are no longer stored. */
  get dropped(): number {
    return this.#size - Math.min(this.#length, this.#maxBytes);
  }

  push(chunk: Uint8Array): void {
    this.#size += chunk.length;
    const part = chunk.subarray(Math.max(0, chunk.length - this.#maxBytes));
    if (this.#length + part.length > this.#buffer.length) this.#makeRoom(part.length);
    this.#buffer.set(part, this.#length);
    this.#length += part.length;
  }

  /** Returns the stored bytes from an offset on, at most `maxBytes`. */
  read(offset: number, maxBytes: number): { readonly offset: number; readonly bytes: Uint8Array } {
    const from = Math.min(Math.max(offset, this.dropped), this.#size);
    const at = this.#length - (this.#size - from);
    return { offset: from, bytes: Buffer.from(this.#buffer.subarray(at, Math.min(at + maxBytes, this.#length))) };
  }

  #makeRoom(needed: number): void {
    const kept = this.#buffer.subarray(Math.max(0, this.#length - this.#maxBytes), this.#length);
    const capacity = Math.min(2 * this.#maxBytes, Math.max(2 * this.#buffer.length, kept.length + needed));
    const buffer = Buffer.alloc(Math.max(capacity, kept.length + needed));
    buffer.set(kept);
    this.#buffer = buffer;
    this.#length = kept.length;
  }
}

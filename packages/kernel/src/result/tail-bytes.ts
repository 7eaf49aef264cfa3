/** Number of bytes kept from the end of long content, for views. */
export const TAIL_BYTES = 16 * 1024;

/** Keeps the last bytes of streamed content. */
export class TailBytes {
  #bytes: Uint8Array = new Uint8Array(0);

  /** Copies the chunk, so the caller may reuse its buffer. */
  write(chunk: Uint8Array): void {
    const before = this.#bytes.subarray(Math.max(0, this.#bytes.length + chunk.length - TAIL_BYTES));
    const last = chunk.subarray(-TAIL_BYTES);
    const bytes = new Uint8Array(chunk.length >= TAIL_BYTES ? last.length : before.length + last.length);
    if (chunk.length < TAIL_BYTES) bytes.set(before);
    bytes.set(last, bytes.length - last.length);
    this.#bytes = bytes;
  }

  bytes(): Uint8Array {
    return this.#bytes;
  }
}

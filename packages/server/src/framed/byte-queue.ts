/**
 * Queues received bytes without copying: a range within one chunk is returned as a view of it, and only a range across
 * chunks is joined, once.
 */
export class ByteQueue {
  #chunks: Uint8Array[] = [];
  /** Read position in the first chunk. */
  #offset = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Returns the first `count` bytes without removing them. There must be that many. */
  peek(count: number): Uint8Array {
    const first = this.#chunks[0];
    if (first !== undefined && first.length - this.#offset >= count) {
      return first.subarray(this.#offset, this.#offset + count);
    }
    const joined = new Uint8Array(count);
    let filled = 0;
    for (let i = 0; filled < count; i++) {
      const chunk = this.#chunks[i];
      if (chunk === undefined) throw new RangeError("fewer bytes than asked for");
      const from = i === 0 ? this.#offset : 0;
      const part = chunk.subarray(from, from + count - filled);
      joined.set(part, filled);
      filled += part.length;
    }
    return joined;
  }

  /** Returns the first four bytes as a big-endian number without removing them. */
  peekUint32(): number {
    const first = this.#chunks[0];
    const at = this.#offset;
    if (first !== undefined && first.length - at >= 4) return readUint32(first, at);
    return readUint32(this.peek(4), 0);
  }

  /** Removes and returns the first `count` bytes. There must be that many. */
  take(count: number): Uint8Array {
    const bytes = this.peek(count);
    this.drop(count);
    return bytes;
  }

  /** Moves as many bytes as fit to `target` from `position` on, and returns their number. */
  moveTo(target: Uint8Array, position: number): number {
    let moved = 0;
    for (;;) {
      const first = this.#chunks[0];
      const room = target.length - position - moved;
      if (first === undefined || room === 0) return moved;
      const part = first.subarray(this.#offset, this.#offset + room);
      target.set(part, position + moved);
      moved += part.length;
      this.drop(part.length);
    }
  }

  /** Removes the first `count` bytes. There must be that many. */
  drop(count: number): void {
    this.#length -= count;
    let left = count;
    while (left > 0) {
      const first = this.#chunks[0];
      if (first === undefined) throw new RangeError("fewer bytes than asked for");
      const here = first.length - this.#offset;
      if (left < here) {
        this.#offset += left;
        return;
      }
      left -= here;
      this.#chunks.shift();
      this.#offset = 0;
    }
  }

  /** Copies a small remainder, which would otherwise keep a whole chunk in memory. */
  compact(): void {
    const first = this.#chunks[0];
    if (first === undefined || this.#chunks.length > 1 || this.#offset === 0) return;
    this.#chunks[0] = new Uint8Array(first.subarray(this.#offset));
    this.#offset = 0;
  }
}

function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) * 0x1000000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
  );
}

import { createBlake3, MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import { MAX_HELD_ITEM_BYTES } from "./held-content.ts";
import { TailBytes } from "./tail-bytes.ts";

/** Content as it is returned to a caller. */
export interface ReturnedContent {
  readonly digest: Uint8Array;
  readonly size: number;
  /** The whole content if it has at most 1 MB; otherwise its beginning, enough for any view. */
  readonly head: Uint8Array;
  /** The last bytes, if `head` is not the whole content. */
  readonly tail?: Uint8Array | undefined;
}

/** Content that is not stored; `bytes` is undefined if it is too large to keep in memory. */
export interface UnstoredContent extends ReturnedContent {
  readonly bytes: Uint8Array | undefined;
}

/** Collects content that is not stored: its hash, and its bytes up to a limit. */
export class UnstoredCollector {
  readonly #hasher = createBlake3();
  #parts: Uint8Array[] = [];
  #kept = 0;
  #size = 0;
  readonly #tail = new TailBytes();

  get size(): number {
    return this.#size;
  }

  /** Copies the chunk, so the caller may reuse its buffer. */
  write(chunk: Uint8Array): void {
    this.#hasher.update(chunk);
    this.#size += chunk.length;
    this.#tail.write(chunk);
    const room = MAX_HELD_ITEM_BYTES - this.#kept;
    if (room <= 0) return;
    const part = Uint8Array.from(chunk.subarray(0, room));
    this.#parts.push(part);
    this.#kept += part.length;
  }

  head(): Uint8Array {
    return this.#bytes().subarray(0, MAX_INLINE_RESULT_BYTES);
  }

  finish(): UnstoredContent {
    const bytes = this.#kept === this.#size ? this.#bytes() : undefined;
    const head = this.head();
    const tail = head.length < this.#size ? this.#tail.bytes() : undefined;
    return { digest: this.#hasher.digest(), size: this.#size, head, tail, bytes };
  }

  #bytes(): Uint8Array {
    const [first] = this.#parts;
    if (this.#parts.length === 1 && first !== undefined) return first;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [whole];
    return whole;
  }
}

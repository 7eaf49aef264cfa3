import { HASH_SIZE } from "@narthex/contracts";
import type { Slice } from "../wire/slice.ts";

/** SPEC: docs/formats/log.md, "Checkpoints": how far a checkpoint may look back. */
export const WINDOW_RECORDS = 65_536;

/** Hashes of the newest records, in order, until a checkpoint adds them to the tree. */
export class RecordWindow {
  #bytes = new Uint8Array(256 * HASH_SIZE);
  #first = 0;
  #count = 0;

  get isFull(): boolean {
    return this.#count > WINDOW_RECORDS;
  }

  /** All hashes, concatenated. */
  hashes(): Uint8Array<ArrayBuffer> {
    const hashes = new Uint8Array(this.#count * HASH_SIZE);
    for (let i = 0; i < this.#count; i++) {
      const at = ((this.#first + i) * HASH_SIZE) % this.#bytes.length;
      hashes.set(this.#bytes.subarray(at, at + HASH_SIZE), i * HASH_SIZE);
    }
    return hashes;
  }

  push(hash: Slice): void {
    if (this.#count * HASH_SIZE === this.#bytes.length) this.#grow();
    const at = ((this.#first + this.#count) * HASH_SIZE) % this.#bytes.length;
    for (let i = 0; i < HASH_SIZE; i++) this.#bytes[at + i] = hash.bytes[hash.start + i] ?? 0;
    this.#count++;
  }

  /** Removes and returns the oldest hash; valid until the next one is added. */
  shift(): Uint8Array {
    const at = (this.#first * HASH_SIZE) % this.#bytes.length;
    this.#first = (this.#first + 1) % (this.#bytes.length / HASH_SIZE);
    this.#count--;
    return this.#bytes.subarray(at, at + HASH_SIZE);
  }

  #grow(): void {
    const grown = new Uint8Array(this.#bytes.length * 2);
    const start = this.#first * HASH_SIZE;
    grown.set(this.#bytes.subarray(start));
    grown.set(this.#bytes.subarray(0, start), this.#bytes.length - start);
    this.#bytes = grown;
    this.#first = 0;
  }
}

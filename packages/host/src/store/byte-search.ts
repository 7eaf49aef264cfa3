/** Searches for many byte strings at once. */
export class ByteSearch {
  /** Marks the first two bytes of every needle. */
  readonly #beginnings = new Uint8Array(65_536);
  /** Keyed by the first four bytes. */
  readonly #needles = new Map<number, Buffer[]>();
  /** Length of the longest needle. */
  readonly longest: number;

  /** Each needle must have at least four bytes; shorter ones would match everywhere. */
  constructor(needles: readonly Uint8Array[]) {
    for (const bytes of needles) {
      const needle = Buffer.from(bytes);
      if (needle.length < 4) throw new RangeError("a byte string to look for has four bytes at least");
      this.#beginnings[needle.readUInt16BE(0)] = 1;
      const key = needle.readUInt32BE(0);
      const known = this.#needles.get(key);
      if (known === undefined) this.#needles.set(key, [needle]);
      else known.push(needle);
    }
    this.longest = needles.reduce((most, { length }) => Math.max(most, length), 0);
  }

  isIn(bytes: Buffer): boolean {
    const beginnings = this.#beginnings;
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const beginning = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      if (beginnings[beginning] === 1 && this.#isAt(bytes, at)) return true;
    }
    return false;
  }

  #isAt(bytes: Buffer, at: number): boolean {
    const candidates = this.#needles.get(bytes.readUInt32BE(at)) ?? [];
    return candidates.some((needle) => bytes.subarray(at, at + needle.length).equals(needle));
  }
}

/** 64-bit fingerprints in 8 bytes each: says for certain what was never added, at a few bytes a member. */
export class FingerprintSet {
  #low = new Uint32Array(16);
  #high = new Uint32Array(16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(low: number, high: number): boolean {
    const slot = this.#slot(low, high);
    return this.#low[slot] !== 0 || this.#high[slot] !== 0;
  }

  add(low: number, high: number): void {
    // The pair (0, 0) marks an empty slot; it stands in for itself as (0, 1).
    const slot = this.#slot(low, high);
    if (this.#low[slot] !== 0 || this.#high[slot] !== 0) return;
    this.#low[slot] = low;
    this.#high[slot] = low === 0 && high === 0 ? 1 : high;
    this.#size++;
    if (this.#size * 2 > this.#low.length) this.#grow();
  }

  #slot(low: number, high: number): number {
    const wantedHigh = low === 0 && high === 0 ? 1 : high;
    const mask = this.#low.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const foundLow = this.#low[slot];
      const foundHigh = this.#high[slot];
      if (foundLow === 0 && foundHigh === 0) return slot;
      if (foundLow === low && foundHigh === wantedHigh) return slot;
    }
  }

  #grow(): void {
    const low = this.#low;
    const high = this.#high;
    this.#low = new Uint32Array(low.length * 2);
    this.#high = new Uint32Array(low.length * 2);
    this.#size = 0;
    for (let i = 0; i < low.length; i++) {
      const memberLow = low[i] ?? 0;
      const memberHigh = high[i] ?? 0;
      if (memberLow !== 0 || memberHigh !== 0) this.add(memberLow, memberHigh);
    }
  }
}

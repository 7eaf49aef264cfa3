const FIRST_SLOTS = 16;

/** A set of 64-bit fingerprints, 8 bytes each. Proves that an id was never added, at a few bytes per member. */
export class FingerprintSet {
  /** Low and high word of each slot in turn; undefined until the first member is added. */
  #words: Uint32Array | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(low: number, high: number): boolean {
    const words = this.#words;
    return words !== undefined && isTaken(words, slotOf(words, low, high));
  }

  add(low: number, high: number): void {
    this.#words ??= new Uint32Array(FIRST_SLOTS * 2);
    const words = this.#words;
    const slot = slotOf(words, low, high);
    if (isTaken(words, slot)) return;
    words[slot] = low;
    words[slot + 1] = standIn(low, high);
    this.#size++;
    if (this.#size * 4 > words.length) this.#grow(words);
  }

  #grow(words: Uint32Array): void {
    this.#words = new Uint32Array(words.length * 2);
    this.#size = 0;
    for (let slot = 0; slot < words.length; slot += 2) {
      if (isTaken(words, slot)) this.add(words[slot] ?? 0, words[slot + 1] ?? 0);
    }
  }
}

/** Slot that holds the pair, or the empty slot where it belongs. */
function slotOf(words: Uint32Array, low: number, high: number): number {
  const wantedHigh = standIn(low, high);
  const mask = words.length - 1;
  let slot = (low * 2) & mask;
  while (isTaken(words, slot) && !(words[slot] === low && words[slot + 1] === wantedHigh)) slot = (slot + 2) & mask;
  return slot;
}

function isTaken(words: Uint32Array, slot: number): boolean {
  return words[slot] !== 0 || words[slot + 1] !== 0;
}

/** The pair (0, 0) marks an empty slot; a fingerprint (0, 0) is stored as (0, 1). */
function standIn(low: number, high: number): number {
  return low === 0 && high === 0 ? 1 : high;
}

/** A stream of numbers that a seed and a name decide. */
export interface SeededRandom {
  /** A whole number from 0 up to and without `end`. */
  below(end: number): number;
}

/** Mulberry32: small, and the same on every machine. Not for secrets. */
export function seededRandom(seed: number, name: string): SeededRandom {
  let state = seed >>> 0;
  for (const character of name) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x9e3779b1) >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  return { below: (end) => Math.floor((next() / 2 ** 32) * end) };
}

export interface Occurrences {
  /** How often a text stands there, those that overlap counted too. */
  readonly count: number;
  /** Where it would be replaced: from the first on, each after the end of the one before. */
  readonly offsets: readonly number[];
  /** Where it begins, overlapping or not; only the first thousand. */
  readonly starts: readonly number[];
}

const MAX_STARTS = 1000;

/** Finds every place of a text. Takes time in proportion to both lengths, however often they almost fit. */
export function findOccurrences(bytes: Buffer, wanted: Buffer, maxOffsets: number): Occurrences {
  const first = bytes.indexOf(wanted);
  if (first < 0) return { count: 0, offsets: [], starts: [] };
  if (bytes.indexOf(wanted, first + 1) < 0) return { count: 1, offsets: [first], starts: [first] };
  const borders = bordersOf(wanted);
  const [offsets, starts]: [number[], number[]] = [[], []];
  let [count, matched, free] = [0, 0, 0];
  for (let index = first; index < bytes.length; index++) {
    while (matched > 0 && bytes[index] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (bytes[index] === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    const start = index + 1 - wanted.length;
    count++;
    if (starts.length < MAX_STARTS) starts.push(start);
    if (start >= free && offsets.length <= maxOffsets) {
      offsets.push(start);
      free = start + wanted.length;
    }
    matched = borders[matched - 1] ?? 0;
  }
  return { count, offsets, starts };
}

/** The line, counted from 1, on which each of some ascending places stands. */
export function linesOf(bytes: Buffer, offsets: readonly number[]): number[] {
  let [line, position] = [1, 0];
  return offsets.map((offset) => {
    for (
      let next = bytes.indexOf(NEWLINE, position);
      next >= 0 && next < offset;
      next = bytes.indexOf(NEWLINE, position)
    ) {
      line++;
      position = next + 1;
    }
    return line;
  });
}

const NEWLINE = 0x0a;

/** For each start of the text: how much of it is also its end. */
function bordersOf(wanted: Buffer): Int32Array {
  const borders = new Int32Array(wanted.length);
  let matched = 0;
  for (let index = 1; index < wanted.length; index++) {
    while (matched > 0 && wanted[index] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (wanted[index] === wanted[matched]) matched++;
    borders[index] = matched;
  }
  return borders;
}

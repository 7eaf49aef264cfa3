export interface Occurrences {
  /** Number of occurrences, including overlapping ones. */
  readonly count: number;
  /** Positions to replace: the first occurrence, then each next one that does not overlap the previous. */
  readonly offsets: readonly number[];
  /** Positions of the first thousand occurrences, including overlapping ones. */
  readonly starts: readonly number[];
}

const MAX_STARTS = 1000;

/** Finds all occurrences of a text. Takes time linear in both lengths, even for repetitive content. */
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

/** Returns the line numbers, from 1, of ascending positions. */
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

/** For each prefix of the text: the length of its longest proper prefix that is also its suffix. */
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

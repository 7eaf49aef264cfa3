/**
 * A range of bytes in a larger array. Creating one costs a tenth of creating a view, and a ledger has dozens in each
 * record.
 */
export class Slice {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
  }

  get length(): number {
    return this.end - this.start;
  }

  view(): Uint8Array {
    return this.bytes.subarray(this.start, this.end);
  }

  /** A copy of the bytes, so that a few of them do not keep the whole array in memory. */
  copy(): Slice {
    return wholeSlice(this.bytes.slice(this.start, this.end));
  }
}

export function wholeSlice(bytes: Uint8Array): Slice {
  return new Slice(bytes, 0, bytes.length);
}

export function sameSlices(left: Slice, right: Slice): boolean {
  const length = left.end - left.start;
  if (length !== right.end - right.start) return false;
  const { bytes: leftBytes, start: leftStart } = left;
  const { bytes: rightBytes, start: rightStart } = right;
  for (let i = 0; i < length; i++) if (leftBytes[leftStart + i] !== rightBytes[rightStart + i]) return false;
  return true;
}

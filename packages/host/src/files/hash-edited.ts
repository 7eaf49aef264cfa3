import { createBlake3, toHex } from "@narthex/contracts";

export interface Edit {
  /** Positions of the old text, ascending and not overlapping. */
  readonly offsets: readonly number[];
  readonly oldLength: number;
  readonly text: Uint8Array;
}

/** Computes the hash of the edited file, without holding the old or the new content in memory. */
export async function hashEdited(
  before: AsyncIterable<Uint8Array>,
  { offsets, oldLength, text }: Edit,
): Promise<string> {
  const hasher = createBlake3();
  let [position, kept, next] = [0, 0, 0];
  for await (const piece of before) {
    const end = position + piece.length;
    for (; next < offsets.length && (offsets[next] ?? 0) < end; next++) {
      const offset = offsets[next] ?? 0;
      hasher.update(piece.subarray(kept - position, offset - position));
      hasher.update(text);
      kept = offset + oldLength;
    }
    if (kept < end) {
      hasher.update(piece.subarray(kept - position));
      kept = end;
    }
    position = end;
  }
  return toHex(hasher.digest());
}

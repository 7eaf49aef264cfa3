import { createBlake3, toHex } from "@narthex/contracts";

export interface Edit {
  /** Where the old text stands, ascending, none inside another. */
  readonly offsets: readonly number[];
  readonly oldLength: number;
  readonly text: Uint8Array;
}

/** The hash of what an edit makes of a file, without ever holding either. */
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

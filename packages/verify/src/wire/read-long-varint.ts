/** The end position of the last varint. Shared, to avoid creating an object per varint. */
export const longVarint = { end: 0 };

/**
 * Reads the rest of a varint whose first byte was not its last; -1 unless it has its shortest form and is at most 2^53
 * - 1. The caller detects a read past the end of the message by the position.
 */
export function readLongVarint(bytes: Uint8Array, position: number, first: number): number {
  let value = first & 0x7f;
  let unit = 128;
  for (let at = position; unit <= Number.MAX_SAFE_INTEGER; unit *= 128) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) {
      longVarint.end = at;
      return byte === 0 || value > Number.MAX_SAFE_INTEGER ? -1 : value;
    }
  }
  return -1;
}

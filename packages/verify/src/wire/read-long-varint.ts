/** Where the varint that was read last ends. An object for it would have to be made each time. */
export const longVarint = { end: 0 };

/**
 * The rest of a varint whose first byte was not its last; -1 unless it is in its shortest form and at most 2^53 - 1. What
 * reads past the end of its message is found by its position.
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

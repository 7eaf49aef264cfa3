const encoder = new TextEncoder();
/** V8 stores arrays up to this length inside their objects, and moves them out when their buffer is accessed. */
const INLINE_BYTES = 64;
const shown = Buffer.alloc(INLINE_BYTES);

/** Encodes as lowercase hex. */
export function toHex(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > INLINE_BYTES) return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("hex");
  shown.set(bytes);
  return shown.toString("hex", 0, length);
}

/** Decodes hex in either case. Undefined if the text is not a whole number of hex bytes. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "hex"));
}

/**
 * Compares in time independent of the position of the first difference.
 *
 * SECURITY: token hashes are compared with this. The time reveals the length at most, and that is public.
 */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

/**
 * Encodes as UTF-8 in pooled memory, at a third of the cost of `utf8`.
 *
 * SECURITY: for internal use only: code that holds the array can reach the other arrays in its buffer.
 */
export function sharedUtf8(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

/**
 * Encodes as UTF-8 in a separate array. Lone surrogates become U+FFFD: check with `isWellFormed` where that matters.
 */
export function utf8(text: string): Uint8Array {
  return (text.length <= INLINE_BYTES ? shortAscii(text) : undefined) ?? encoder.encode(text);
}

/** Avoids a call into native code, which would also allocate the array outside of V8's heap. */
function shortAscii(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return undefined;
    bytes[i] = unit;
  }
  return bytes;
}

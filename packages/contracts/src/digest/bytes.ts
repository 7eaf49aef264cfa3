const encoder = new TextEncoder();
/** V8 keeps arrays up to this length inside their objects, and moves them out when their memory is asked for. */
const INLINE_BYTES = 64;
const shown = Buffer.alloc(INLINE_BYTES);

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > INLINE_BYTES) return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("hex");
  shown.set(bytes);
  return shown.toString("hex", 0, length);
}

/** Takes either case; anything that is not a whole number of hex bytes is undefined. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "hex"));
}

/**
 * Compares without stopping at the first difference.
 *
 * SECURITY: token hashes are compared with this; time tells an attacker the length at most, and that is public.
 */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

/**
 * UTF-8 in memory that is shared with other arrays, at a third of the cost.
 *
 * SECURITY: for bytes that stay inside: whoever holds the array can reach its neighbours.
 */
export function sharedUtf8(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

/** UTF-8 in an array of its own. Lone surrogates become U+FFFD: check with `isWellFormed` where that matters. */
export function utf8(text: string): Uint8Array {
  return (text.length <= INLINE_BYTES ? shortAscii(text) : undefined) ?? encoder.encode(text);
}

/** Without a call into native code, which would also place the array outside of V8's own memory. */
function shortAscii(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return undefined;
    bytes[i] = unit;
  }
  return bytes;
}

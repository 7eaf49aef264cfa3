const encoder = new TextEncoder();

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
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
  return encoder.encode(text);
}

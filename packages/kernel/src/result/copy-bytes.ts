/**
 * Bytes that are nobody else's.
 *
 * SECURITY: not `slice`, which for a Buffer is no copy at all: a tool that writes over its buffer would change what was
 * hashed, and a caller what others are answered.
 */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

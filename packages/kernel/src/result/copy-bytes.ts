/**
 * Copies bytes into an array of their own.
 *
 * SECURITY: `slice` of a Buffer is not a copy: a tool that overwrites its buffer would change bytes that were already
 * hashed, and a caller the responses of others.
 */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

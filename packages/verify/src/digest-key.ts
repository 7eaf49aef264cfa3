/** Converts a digest to a key of a Map: one character per byte. */
export function digestKey(digest: Uint8Array): string {
  return String.fromCharCode(...digest);
}

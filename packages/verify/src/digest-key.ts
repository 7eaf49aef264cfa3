/** A digest as the key of a Map: one character per byte. */
export function digestKey(digest: Uint8Array): string {
  return String.fromCharCode(...digest);
}

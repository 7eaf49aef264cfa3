const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Kept {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const SLOTS = 1024;
const MAX_KEPT_BYTES = 64;

// A ledger repeats the same few texts; comparing with the last text of the same hash is far cheaper than decoding
// again. INVARIANT: a slot is used only after every byte was compared.
const kept: (Kept | undefined)[] = new Array<Kept | undefined>(SLOTS).fill(undefined);

/** The text of a slice, or undefined if it is not UTF-8. */
export function readText(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start > MAX_KEPT_BYTES) return decodeSlice(bytes, start, end);
  const slot = slotOf(bytes, start, end);
  const found = kept[slot];
  if (found !== undefined && isSlice(found.bytes, bytes, start, end)) return found.text;
  const text = decodeSlice(bytes, start, end);
  if (text !== undefined) kept[slot] = { bytes: bytes.slice(start, end), text };
  return text;
}

export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if ((bytes[i] ?? 0) > 0x7f) return decodeSlice(bytes, start, end) !== undefined;
  }
  return true;
}

function decodeSlice(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

function isSlice(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text[i] !== bytes[start + i]) return false;
  return true;
}

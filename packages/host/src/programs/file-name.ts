import { isUtf8 } from "node:buffer";

/** Where bytes that are not UTF-8 stand in a name: one lone surrogate for each, as no valid text has them. */
const ESCAPES = 0xdc00;

/**
 * A file's name as text, whatever its bytes are: bytes that are not UTF-8 become lone surrogates, so that no two names
 * are the same text and each can be turned back into its bytes.
 *
 * SECURITY: a name with replacement characters in it stands for no file, and what it named would not be seen.
 */
export function nameFromBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let name = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    name += length === 0 ? String.fromCharCode(ESCAPES + (bytes[at] ?? 0)) : bytes.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return name;
}

export function nameToBytes(name: string): Buffer {
  if (name.isWellFormed()) return Buffer.from(name);
  return Buffer.concat(
    Array.from(name, (character) => {
      const code = character.charCodeAt(0) - ESCAPES;
      return character.isWellFormed() ? Buffer.from(character) : Buffer.of(code & 0xff);
    }),
  );
}

/** A path as people are shown it: bytes that are not text, and characters that move a cursor, as `\xNN`. */
export function shownPath(path: string, maxLength = 200): string {
  const shown = path.replaceAll(UNSHOWN, (character) =>
    Array.from(nameToBytes(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}...`;
}

const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Of the character that begins here; 0 if none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}

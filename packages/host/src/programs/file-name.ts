import { isUtf8 } from "node:buffer";

/** Base of the lone surrogates that stand for bytes that are not UTF-8; valid text never contains them. */
const ESCAPES = 0xdc00;

/**
 * Converts a file name of arbitrary bytes to text: each byte that is not UTF-8 becomes a lone surrogate, so that the
 * conversion is unique and reversible.
 *
 * SECURITY: a name with replacement characters would refer to no file, and the real file would go unnoticed.
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

/** Formats a path for people: bytes that are not text and control characters are shown as `\xNN`. */
export function shownPath(path: string, maxLength = 200): string {
  const shown = path.replaceAll(UNSHOWN, (character) =>
    Array.from(nameToBytes(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}...`;
}

const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns the length of the UTF-8 character that starts here; 0 if none exists. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}

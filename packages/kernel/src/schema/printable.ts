const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Formats untrusted text for a message: one line, truncated, without invisible characters.
 *
 * SECURITY: keys and schema texts are written by agents and servers and are shown to people and models; a bidi override
 * or a zero-width character must not change how they read.
 */
export function printable(text: string, maxLength = 80): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
  return shown.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * A foreign text as it may stand in a message: one line, cut, nothing invisible.
 *
 * SECURITY: keys and schema texts are written by agents and servers and are shown to people and models; a bidi
 * override or a zero-width character must not make them read as something else.
 */
export function printable(text: string, maxLength = 80): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
  return shown.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const MAX_LENGTH = 64;
const MAX_PLACE_LENGTH = 256;

/** Characters that would move the cursor, or hide or reorder text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`]/gu;

/**
 * Makes untrusted text fit for a one-line message: in backticks, cut, with invisible characters spelled out.
 *
 * SECURITY: the author of the text must not be able to end the quotation, break the line or repaint a terminal.
 */
export function quoteText(text: string): string {
  return `\`${showText(text)}\``;
}

/** Quotes a path or a host, cut later: its end matters as much as its beginning. */
export function quotePlace(text: string): string {
  return `\`${show(text, MAX_PLACE_LENGTH)}\``;
}

/** Makes untrusted text fit for a one-line message, without the backticks. */
export function showText(text: string): string {
  return show(text, MAX_LENGTH);
}

function show(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const MAX_LENGTH = 64;
const MAX_PLACE_LENGTH = 256;

/** Anything that would move the cursor, hide text or reorder it. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`]/gu;

/**
 * Text from outside, made fit for a one-line message: in backticks, cut, with unseen characters spelled out.
 *
 * SECURITY: whoever wrote the text must not be able to end the quotation, break the line or repaint a terminal.
 */
export function quoteText(text: string): string {
  return `\`${showText(text)}\``;
}

/** The same of a path or a host, of which the end matters as much as the beginning: cut later. */
export function quotePlace(text: string): string {
  return `\`${show(text, MAX_PLACE_LENGTH)}\``;
}

/** The same without the backticks. */
export function showText(text: string): string {
  return show(text, MAX_LENGTH);
}

function show(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

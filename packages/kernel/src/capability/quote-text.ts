const LONGEST = 64;

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

/** The same without the backticks. */
export function showText(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return cut.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

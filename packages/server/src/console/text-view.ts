import { type MarkedText, markText } from "@narthex/contracts";

/** A text for the page: a plain string if it contains nothing to mark. */
export type TextView = string | MarkedText;

export interface TextPartView {
  readonly text: TextView;
  /** Length of the whole text, in characters. */
  readonly size: number;
  /** How many of them are shown. */
  readonly shown: number;
}

/**
 * SECURITY: every text that an agent, a tool or a rule chose goes through here on its way to the page, which displays
 * marks as marks and inserts the rest as text.
 */
export function toTextView(text: string): TextView {
  const parts = markText(text);
  const [only = ""] = parts;
  return parts.length <= 1 && typeof only === "string" ? only : parts;
}

/** Returns at most `maxCharacters` of a text, and its total size. */
export function toTextPartView(text: string, offset: number, maxCharacters: number): TextPartView {
  const end = Math.min(text.length, offset + maxCharacters);
  const part = text.slice(offset, isInsidePair(text, end) ? end - 1 : end);
  return { text: toTextView(part), size: text.length, shown: part.length };
}

function isInsidePair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}

import { INVISIBLE_CHARACTER } from "@narthex/contracts";

const INVISIBLE = new RegExp(INVISIBLE_CHARACTER, "gu");

/**
 * Formats text of a server for a message on one line: truncates it, replaces line breaks by spaces and escapes other
 * invisible characters.
 *
 * SECURITY: agents and people read this text, and terminals display it.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text
    .slice(0, 4 * maxLength)
    .replaceAll(/\s+/gu, " ")
    .trim();
  const seen = cut.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  const characters = Array.from(seen);
  const isCut = text.length > 4 * maxLength || characters.length > maxLength;
  return isCut ? `${characters.slice(0, maxLength).join("")}…` : seen;
}

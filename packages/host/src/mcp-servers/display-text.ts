import { INVISIBLE_CHARACTER } from "@narthex/contracts";

const INVISIBLE = new RegExp(INVISIBLE_CHARACTER, "gu");

/**
 * A server's own words, for a message of one line: cut, with line breaks as blanks and whatever else does not show
 * spelled out.
 *
 * SECURITY: they are read by agents and people, and shown on terminals.
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

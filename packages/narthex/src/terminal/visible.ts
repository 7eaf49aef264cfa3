import { INVISIBLE_CHARACTER } from "@narthex/contracts";

/**
 * SECURITY: text from the ledger was chosen by agents and tools. Printed raw it could move the cursor, recolour the
 * screen, reverse the reading order or hide words. Every character that a terminal or a reader would not show plainly
 * is escaped instead. Tested in visible.test.ts.
 */
const UNSEEN = new RegExp(INVISIBLE_CHARACTER, "gu");
const UNSEEN_BUT_LAYOUT = new RegExp(`(?![\\n\\t])${INVISIBLE_CHARACTER}`, "gu");
const UNSEEN_BEYOND_ASCII_CONTROLS = new RegExp(`(?![\\u0000-\\u001f])${INVISIBLE_CHARACTER}`, "gu");

/** Makes hidden characters visible in one line of text. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeCodePoint);
}

/** Does the same for multi-line text: line feeds and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN_BUT_LAYOUT, escapeCodePoint);
}

/** Writes invisible characters as JSON escapes: the same value to every parser. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN_BEYOND_ASCII_CONTROLS, escapeUtf16);
}

/** Keeps at most the first `limit` characters, and marks the cut. */
export function cutText(text: string, limit: number): string {
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join("")}…`;
}

/** Keeps the end instead, for text that is distinguished by its end, such as a path. */
export function tailText(text: string, limit: number): string {
  const characters = Array.from(text);
  return characters.length <= limit ? text : `…${characters.slice(characters.length - limit + 1).join("")}`;
}

function escapeCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a) return "\\n";
  if (code === 0x0d) return "\\r";
  if (code === 0x09) return "\\t";
  return code <= 0xffff ? escapeUtf16(character) : `\\u{${code.toString(16)}}`;
}

function escapeUtf16(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at += 1) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}

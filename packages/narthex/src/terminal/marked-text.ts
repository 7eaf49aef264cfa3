import { type Mark, markText, INVISIBLE_CHARACTER } from "@narthex/contracts";
import type { Paint } from "./paint.ts";

/**
 * Renders one line of an agent's text for a person who decides about it: a hidden or ambiguous character is shown as
 * its code point, and a letter of another script has its code point beside it.
 */
export function markedLine(text: string, paint: Paint): string {
  return markText(text)
    .map((part) =>
      typeof part === "string" ? part.replaceAll("\n", paint.yellow("\\n")) : paint.yellow(showMark(part)),
    )
    .join("");
}

/** Up to this many empty lines in a row still count as layout. */
const MAX_EMPTY_LINES = 2;
const EMPTY = new RegExp(`^(?:\\s|${INVISIBLE_CHARACTER})*$`, "u");

/**
 * Does the same for multi-line text, each line behind a bar, so that none of them can pass for the program's own
 * output.
 *
 * SECURITY: empty lines, and lines of invisible characters, are counted instead of shown, so that they cannot push
 * other text out of view.
 */
export function markedLines(text: string, paint: Paint): string[] {
  const shown: string[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const empty = countEmpty(lines, at);
    if (empty > MAX_EMPTY_LINES) shown.push(paint.yellow(`[${empty} empty lines]`));
    else shown.push(...lines.slice(at, at + Math.max(1, empty)).map((line) => markedLine(line, paint)));
    at += Math.max(1, empty);
  }
  return shown.map((line) => `${paint.dim("  |")} ${line}`);
}

function countEmpty(lines: readonly string[], from: number): number {
  let count = 0;
  while (EMPTY.test(lines[from + count] ?? "x")) count += 1;
  return count;
}

function showMark({ kind, character, codePoint, count }: Mark): string {
  const code = `\\u{${codePoint
    .slice(2)
    .replace(/^0+(?=.)/, "")
    .toLowerCase()}}`;
  const times = count === 1 ? "" : `*${count}`;
  return kind === "lookalike" ? `${character.repeat(Math.min(count, 3))}[${code}${times}]` : `[${code}${times}]`;
}

/** Returns the text in ASCII only; undefined if it already is. */
export function escapedText(text: string): string | undefined {
  if (/^[\x00-\x7f]*$/.test(text)) return undefined;
  return text.replace(/[^\n -~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

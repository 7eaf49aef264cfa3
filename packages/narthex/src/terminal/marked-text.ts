import { type Mark, markText } from "@narthex/contracts";
import type { Paint } from "./paint.ts";

/**
 * One line of an agent's text for a person who decides by it: what is hidden, or drawn like something else, stands as its
 * code point, and a letter of another script has it beside it.
 */
export function markedLine(text: string, paint: Paint): string {
  return markText(text)
    .map((part) =>
      typeof part === "string" ? part.replaceAll("\n", paint.yellow("\\n")) : paint.yellow(showMark(part)),
    )
    .join("");
}

/** The same for text of many lines, each behind a bar, so that none of them can pass for the program's own. */
export function markedLines(text: string, paint: Paint): string[] {
  return text.split("\n").map((line) => `${paint.dim("  |")} ${markedLine(line, paint)}`);
}

function showMark({ kind, character, codePoint, count }: Mark): string {
  const code = `\\u{${codePoint
    .slice(2)
    .replace(/^0+(?=.)/, "")
    .toLowerCase()}}`;
  const times = count === 1 ? "" : `*${count}`;
  return kind === "lookalike" ? `${character.repeat(Math.min(count, 3))}[${code}${times}]` : `[${code}${times}]`;
}

/** Text in ASCII alone; undefined if it is so already. */
export function escapedText(text: string): string | undefined {
  if (/^[\x00-\x7f]*$/.test(text)) return undefined;
  return text.replace(/[^\n -~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

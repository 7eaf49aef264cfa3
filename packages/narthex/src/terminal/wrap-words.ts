export interface WrapOptions {
  /** Maximum number of characters per line. */
  readonly width: number;
  /** A word longer than a line is broken, or kept whole on its own line so that it can be copied. */
  readonly longWords: "break" | "keep";
}

/** Wraps text between words. */
export function wrapWords(text: string, { width, longWords }: WrapOptions): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((part) => (longWords === "break" ? pieces(part, width) : [part]))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (countCharacters(longer) <= width || line === "") {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line];
}

/** Counts code points, which equals terminal columns for text without wide characters. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

function pieces(word: string, width: number): string[] {
  const characters = Array.from(word);
  if (characters.length <= width) return [word];
  const found: string[] = [];
  for (let at = 0; at < characters.length; at += width) found.push(characters.slice(at, at + width).join(""));
  return found;
}

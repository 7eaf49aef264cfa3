export interface WrapOptions {
  /** Characters of a line. */
  readonly width: number;
  /** A word that is longer than a line: broken, or whole on a line of its own, so that it can be copied. */
  readonly longWords: "break" | "keep";
}

/** Text on lines that fit, broken between words. */
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

/** Code points, which is as near to columns of a terminal as text without wide characters needs. */
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

import { formatCount } from "./units.ts";

export interface LineBound {
  readonly maxCharacters: number;
  /** How to see everything; printed after the number of omitted lines. */
  readonly how: string;
}

/** Returns as many of the first lines as fit, and a last line that says how much was omitted. */
export function boundLines(lines: readonly string[], { maxCharacters, how }: LineBound): string[] {
  const shown: string[] = [];
  let room = maxCharacters;
  for (const [at, line] of lines.entries()) {
    if (line.length <= room) {
      shown.push(line);
      room -= line.length + 1;
      continue;
    }
    if (room > 0) shown.push(line.slice(0, room).toWellFormed());
    const left = lines.slice(at).reduce((sum, text) => sum + text.length + 1, 0) - Math.max(0, room);
    return [...shown, `cut here: ${formatCount(left)} more characters; ${how}`];
  }
  return shown;
}

import { formatCount } from "./units.ts";

export interface LineBound {
  readonly maxCharacters: number;
  /** Printed after what was left out was counted: how to see all of it. */
  readonly how: string;
}

/** The first lines, as many as fit, and a last one that says how much was left out. */
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

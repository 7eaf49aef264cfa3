import { type PolicyFile, showText } from "@narthex/kernel";

/** A position in a text; both numbers count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Converts many offsets in one file to lines and columns. */
export interface FilePositions {
  /** Takes a UTF-16 offset. Lines end at LF, CR or CRLF; columns count code points. */
  at(offset: number): TextPosition;
  /** `file:line:column`. */
  format(offset: number): string;
}

const LINE_END = /\r\n|[\r\n]/g;

export function createFilePositions({ name, text }: PolicyFile): FilePositions {
  const starts = [0, ...Array.from(text.matchAll(LINE_END), (end) => end.index + end[0].length)];
  const at = (offset: number): TextPosition => {
    const line = lastAtMost(starts, offset);
    return { line: line + 1, column: Array.from(text.slice(starts[line] ?? 0, offset)).length + 1 };
  };
  return {
    at,
    format(offset) {
      const { line, column } = at(offset);
      return `${showText(name)}:${line}:${column}`;
    },
  };
}

/** Converts an offset in the UTF-8 form of a text, as Cedar counts, to a UTF-16 offset. */
export function fromByteOffset(text: string, bytes: number): number {
  let counted = 0;
  let offset = 0;
  for (const character of text) {
    if (counted >= bytes) break;
    counted += Buffer.byteLength(character);
    offset += character.length;
  }
  return offset;
}

/** Returns the index of the last start at or before the offset. */
function lastAtMost(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

import type { Terminal } from "./terminal.ts";
import { visible } from "./visible.ts";
import { wrapWords } from "./wrap-words.ts";

export interface Label {
  readonly text: string;
  /** Width of the label and the gap after it: all lines of the text start there. */
  readonly width: number;
  paint(text: string): string;
}

/** Formats `next:  what to do`, wrapped between words if the error stream is a terminal. */
export function labelledLines(label: Label, text: string, { errorColumns }: Pick<Terminal, "errorColumns">): string[] {
  const room = errorColumns === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_TEXT, errorColumns - label.width);
  const gap = " ".repeat(Math.max(1, label.width - label.text.length));
  return wrapWords(visible(text), { width: room, longWords: "keep" }).map((line, at) =>
    at === 0 ? `${label.paint(label.text)}${gap}${line}` : `${" ".repeat(label.width)}${line}`,
  );
}

const MIN_TEXT = 20;

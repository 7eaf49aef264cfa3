/** Part of a line that is printed in one style. */
export interface StyledSpan {
  readonly text: string;
  readonly styles: readonly string[];
}

export type StyledLine = readonly StyledSpan[];

/** The codes of SGR sequences that the command line prints, and the style that each one starts. */
const STYLES = new Map([
  ["1", "bold"],
  ["2", "dim"],
  ["31", "red"],
  ["32", "green"],
  ["33", "yellow"],
  ["36", "cyan"],
]);

const WEIGHTS = new Set(["bold", "dim"]);

/** Splits terminal output into lines and styles. Throws on an unknown control sequence. */
export function parseStyledLines(output: string): StyledLine[] {
  let styles: readonly string[] = [];
  return output
    .replaceAll("\r\n", "\n")
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const spans: StyledSpan[] = [];
      for (const [, code, text = ""] of `\u001b[m${line}`.matchAll(/\u001b\[([0-9]*)m([^\u001b]*)/g)) {
        if (code !== "") styles = applyCode(code ?? "", styles);
        if (text !== "") spans.push({ text, styles });
      }
      if (spans.map(({ text }) => text).join("") !== line.replaceAll(/\u001b\[[0-9]*m/g, "")) {
        throw new Error(`unknown control sequence in ${JSON.stringify(line)}`);
      }
      return spans;
    });
}

/** Breaks a line at the last column, as a terminal does. */
export function wrapLine(line: StyledLine, columns: number): StyledLine[] {
  const characters = line.flatMap(({ text, styles }) => Array.from(text, (character) => ({ text: character, styles })));
  const lines: StyledLine[] = [];
  for (let start = 0; start < characters.length || start === 0; start += columns) {
    const spans: StyledSpan[] = [];
    for (const { text, styles } of characters.slice(start, start + columns)) {
      const last = spans.at(-1);
      if (last?.styles === styles) spans[spans.length - 1] = { text: last.text + text, styles };
      else spans.push({ text, styles });
    }
    lines.push(spans);
  }
  return lines;
}

function applyCode(code: string, styles: readonly string[]): readonly string[] {
  if (code === "0") return [];
  if (code === "22") return styles.filter((style) => !WEIGHTS.has(style));
  if (code === "39") return styles.filter((style) => WEIGHTS.has(style));
  const style = STYLES.get(code);
  if (style === undefined) throw new Error(`unknown style code ${code}`);
  return [...styles, style];
}

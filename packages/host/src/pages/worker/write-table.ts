import type { PageElement } from "./dom.ts";
import { escapeCell } from "./escape-text.ts";
import { inlineOf, type LinkBase } from "./write-inline.ts";

const MAX_SPAN = 16;

/**
 * Writes a table as Markdown. Returns undefined for a layout table, whose cells are then written one after the other.
 */
export function writeTable(table: PageElement, base: LinkBase, depth: number): string | undefined {
  if (table.querySelector("table, pre, ul, ol, h1, h2, h3, blockquote") !== null) return undefined;
  const rows = [...rowsOf(table)];
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  if (width < 2) return undefined;
  const carried: number[] = [];
  const written = rows.map(({ cells }) => writeRow(cells, carried, base, depth));
  const columns = written.reduce((most, cells) => Math.max(most, cells.length), 0);
  const [header = [], ...others] = written;
  const padded = Array.from({ length: columns }, (_, column) => header[column] ?? "");
  const caption = [...table.children].find(({ localName }) => localName === "caption");
  return [
    ...(caption === undefined ? [] : [`${inlineOf(caption, base, depth).trim()}\n`]),
    lineOf(padded),
    lineOf(padded.map(() => "---")),
    ...others.map(lineOf),
  ].join("\n");
}

interface TableRow {
  readonly cells: readonly PageElement[];
}

function* rowsOf(table: PageElement): Generator<TableRow> {
  for (const child of table.children) {
    if (child.localName === "tr") yield { cells: cellsOf(child) };
    else if (/^t(?:head|body|foot)$/.test(child.localName)) yield* rowsOf(child);
  }
}

function cellsOf(row: PageElement): PageElement[] {
  return [...row.children].filter(({ localName }) => localName === "td" || localName === "th");
}

/** `carried`: for each column, the number of further rows that a cell from above spans. */
function writeRow(cells: readonly PageElement[], carried: number[], base: LinkBase, depth: number): string[] {
  const written: string[] = [];
  const skip = (): void => {
    for (let left = carried[written.length] ?? 0; left > 0; left = carried[written.length] ?? 0) {
      carried[written.length] = left - 1;
      written.push("");
    }
  };
  for (const cell of cells) {
    skip();
    const [across, down] = [spanOf(cell, "colspan"), spanOf(cell, "rowspan")];
    const text = escapeCell(inlineOf(cell, base, depth).trim());
    for (let column = 0; column < across; column++) {
      carried[written.length] = down - 1;
      written.push(column === 0 ? text : "");
    }
  }
  skip();
  return written;
}

function spanOf(cell: PageElement, name: string): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? "1", 10);
  return span >= 1 ? Math.min(span, MAX_SPAN) : 1;
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

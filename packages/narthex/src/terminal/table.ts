import { type FittedColumn, fitColumns } from "./fit-columns.ts";
import { cutText, tailText, visible } from "./visible.ts";
import { countCharacters, wrapWords } from "./wrap-words.ts";

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  /**
   * How the column shrinks if the table is wider than the terminal: `drop` omits the column, `wrap` breaks its cells
   * between words, `cut` ends them with an ellipsis, `tail` begins them with one, a function returns a shorter cell.
   */
  readonly narrow?: "drop" | "wrap" | "cut" | "tail" | ((row: Row) => string);
  value(row: Row): string;
}

/**
 * Renders columns padded to their widest cell. Control characters in cells are made visible; the last column is not
 * padded. With a width, columns shrink until the lines fit; without, as for a file or a pipe, everything is shown
 * whole.
 */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string[] {
  const all = columns.map((column) => ({
    title: column.title,
    align: column.align ?? "left",
    narrow: typeof column.narrow === "function" ? undefined : column.narrow,
    cells: rows.map((row) => visible(column.value(row))),
    shortCells: shortCells(column, rows),
  }));
  const shown = fitColumns(all, width);
  const lines = [shown.map(({ title }) => title), ...rows.map((_, at) => shown.map(({ cells }) => cells[at] ?? ""))];
  return lines.flatMap((cells) => renderRow(cells, shown));
}

function shortCells<Row>({ narrow }: Column<Row>, rows: readonly Row[]): readonly string[] | undefined {
  return typeof narrow === "function" ? rows.map((row) => visible(narrow(row))) : undefined;
}

/** Renders a row as one line, or as many as the longest wrapped cell needs. */
function renderRow(
  cells: readonly string[],
  columns: readonly Pick<FittedColumn, "width" | "align" | "narrow">[],
): string[] {
  const wrapped = cells.map((cell, at) => {
    const width = columns[at]?.width ?? 0;
    if (columns[at]?.narrow === "cut") return [cutText(cell, width)];
    if (columns[at]?.narrow === "tail") return [tailText(cell, width)];
    return countCharacters(cell) <= width ? [cell] : wrapWords(cell, { width, longWords: "break" });
  });
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map(({ width, align }, at) => pad(wrapped[at]?.[row] ?? "", width, align))
      .join("  ")
      .trimEnd(),
  );
}

/** Renders `name  value` lines with padded names. With a width, values are wrapped between words. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[], width?: number): string[] {
  const names = facts.reduce((widest, [name]) => Math.max(widest, name.length), 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_VALUE, width - names - 2);
  return facts.flatMap(([name, value]) =>
    wrapWords(visible(value), { width: room, longWords: "keep" }).map((line, at) =>
      `${(at === 0 ? name : "").padEnd(names)}  ${line}`.trimEnd(),
    ),
  );
}

/** Minimum width of a value, however narrow the terminal is. */
const MIN_VALUE = 20;

function pad(text: string, width: number, align: "left" | "right"): string {
  const gap = " ".repeat(Math.max(0, width - countCharacters(text)));
  return align === "left" ? text + gap : gap + text;
}

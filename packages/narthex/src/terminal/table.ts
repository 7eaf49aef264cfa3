import { visible } from "./visible.ts";

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  value(row: Row): string;
}

/** Lines of columns, padded to their widest cell. Cells are made visible; the last column is not padded. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map((column) => visible(column.value(row))));
  const widths = columns.map((column, at) =>
    cells.reduce((widest, line) => Math.max(widest, characterCount(line[at] ?? "")), column.title.length),
  );
  const renderLine = (line: readonly string[]): string =>
    columns
      .map((column, at) => pad(line[at] ?? "", widths[at] ?? 0, column.align ?? "left"))
      .join("  ")
      .trimEnd();
  return [renderLine(columns.map((column) => column.title)), ...cells.map(renderLine)];
}

/** `name  value` lines, names padded. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[]): string[] {
  const width = facts.reduce((widest, [name]) => Math.max(widest, name.length), 0);
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${visible(value)}`.trimEnd());
}

function pad(text: string, width: number, align: "left" | "right"): string {
  const gap = " ".repeat(Math.max(0, width - characterCount(text)));
  return align === "left" ? text + gap : gap + text;
}

function characterCount(text: string): number {
  return Array.from(text).length;
}

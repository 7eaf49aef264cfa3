import { countCharacters } from "./wrap-words.ts";

export interface ColumnCells {
  readonly title: string;
  readonly align: "left" | "right";
  readonly narrow: "drop" | "wrap" | "cut" | "tail" | undefined;
  readonly cells: readonly string[];
  /** Shorter versions of the cells, if there are any. */
  readonly shortCells: readonly string[] | undefined;
}

export interface FittedColumn extends ColumnCells {
  readonly width: number;
}

const GAP = 2;
/** Minimum width of a column that is wrapped or cut. */
const MIN_WRAPPED = 12;

/**
 * Selects columns that fit side by side: shortens cells first, then drops columns from the right, then wraps or cuts.
 */
export function fitColumns(columns: readonly ColumnCells[], width: number | undefined): FittedColumn[] {
  let fitted = columns.map(withWidth);
  if (width === undefined || totalOf(fitted) <= width) return fitted;
  fitted = fitted.map((column) =>
    column.shortCells === undefined ? column : withWidth({ ...column, cells: column.shortCells }),
  );
  const room = (kept: readonly FittedColumn[]): number =>
    width - totalOf(kept.map((column) => (isShrinkable(column) ? { ...column, width: minimumWidth(column) } : column)));
  while (room(fitted) < 0) {
    const at = fitted.findLastIndex(({ narrow }) => narrow === "drop");
    if (at < 0) break;
    fitted = fitted.toSpliced(at, 1);
  }
  return totalOf(fitted) <= width ? fitted : distributeWidth(fitted, width);
}

function isShrinkable({ narrow }: ColumnCells): boolean {
  return narrow === "wrap" || narrow === "cut" || narrow === "tail";
}

/** Minimum width of a shrinkable column before other columns are dropped for it. */
function minimumWidth({ width }: FittedColumn): number {
  return Math.min(width, 2 * MIN_WRAPPED);
}

/** Divides the remaining width among the shrinkable columns, giving more to those that need more. */
function distributeWidth(columns: readonly FittedColumn[], width: number): FittedColumn[] {
  const yielding = columns.filter(isShrinkable);
  const needed = yielding.reduce((sum, column) => sum + column.width, 0);
  const left = width - (totalOf(columns) - needed);
  let small = 0;
  for (const column of yielding) if (column.width <= left / yielding.length) small += column.width;
  const large = yielding.filter((column) => column.width > left / yielding.length);
  const total = large.reduce((sum, column) => sum + column.width, 0);
  return columns.map((column) =>
    large.includes(column)
      ? { ...column, width: Math.max(MIN_WRAPPED, Math.floor(((left - small) * column.width) / total)) }
      : column,
  );
}

function totalOf(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, column) => sum + column.width, 0) + GAP * Math.max(0, columns.length - 1);
}

function withWidth(column: ColumnCells): FittedColumn {
  const width = column.cells.reduce((most, cell) => Math.max(most, countCharacters(cell)), column.title.length);
  return { ...column, width };
}

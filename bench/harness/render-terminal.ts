import { styleText } from "node:util";
import type { FamilyReport } from "./report.ts";
import { COLUMNS, type TableLine, tableLines } from "./table-cells.ts";

const COLOURS = { met: "green", missed: "red", unmeasured: "yellow" } as const;

/** A family's table for a terminal: what was met is green, what was not is red. */
export function renderTerminal(report: FamilyReport, hasColours: boolean): string {
  const lines = tableLines(report);
  const widths = COLUMNS.map((title, at) =>
    Math.max(title.length, ...lines.map(({ cells }) => cells[at]?.length ?? 0)),
  );
  const layOut = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const paint = (text: string, mood: TableLine["mood"]): string =>
    hasColours && mood !== "plain" ? styleText(COLOURS[mood], text, { validateStream: false }) : text;
  const notes = report.measurements.flatMap((measurement) => measurement.notes ?? []);
  return [
    `${report.family}: ${report.title} (${report.seconds.toFixed(0)} s)`,
    layOut(COLUMNS),
    ...lines.map(({ cells, mood }) => paint(layOut(cells), mood)),
    ...notes.map((note) => `  ${note}`),
    "",
  ].join("\n");
}

/** On a terminal that shows them, unless NO_COLOR is set. */
export function wantsColours(stream: { readonly isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

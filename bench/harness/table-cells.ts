import { judge } from "./judge.ts";
import type { Bar, Figure, Row } from "./measurement.ts";
import type { FamilyReport } from "./report.ts";

export const COLUMNS = ["what", "ours", "beside it", "ratio", "bar", "met?"] as const;

export interface TableLine {
  readonly cells: readonly string[];
  readonly mood: "met" | "missed" | "unmeasured" | "plain";
}

/** The table of a family, as text that has yet to be laid out. */
export function tableLines(report: FamilyReport): TableLine[] {
  return report.measurements.flatMap(({ name, rows, failed, notMeasured }) => {
    const reason = failed ?? notMeasured;
    if (reason === undefined) return rows.map(lineOf);
    const said = failed === undefined ? `not measured: ${reason}` : `failed: ${reason}`;
    return [{ cells: [name, "", "", "", "", said], mood: failed === undefined ? "unmeasured" : "missed" } as const];
  });
}

function lineOf(row: Row): TableLine {
  const { what, ours, beside, ratio, bar } = row;
  const verdict = judge(row);
  return {
    cells: [
      what,
      figureText(ours),
      beside === undefined ? "" : `${figureText(beside)} ${beside.name}`,
      ratio === undefined ? "" : numberText(ratio),
      bar === undefined ? "" : barText(bar, ours.unit),
      verdict === undefined ? "" : verdict.met ? "yes" : `NO: ${missText(row, verdict.bars)}`,
    ],
    mood: verdict === undefined ? "plain" : verdict.met ? "met" : "missed",
  };
}

function missText({ bar }: Row, bars: number): string {
  if (bar?.limit === "at least") return `${numberText((1 - bars) * 100)} % below the bar`;
  return `${numberText((1 / bars - 1) * 100)} % above the bar`;
}

function barText({ of, limit, value }: Bar, unit: string): string {
  const sign = limit === "at least" ? ">=" : "<=";
  return of === "ratio" ? `${sign} ${numberText(value)} x` : `${sign} ${figureText({ value, unit })}`;
}

export function figureText({ value, unit }: Figure): string {
  return `${numberText(value)} ${unit}`;
}

/** Three digits that mean something, thousands apart. */
export function numberText(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: digits });
}

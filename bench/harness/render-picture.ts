import { judge } from "./judge.ts";
import type { Row } from "./measurement.ts";
import type { FamilyReport } from "./report.ts";
import { figureText, numberText } from "./table-cells.ts";

const WIDTH = 820;
const ROW = 26;
const TOP = 34;
const LABELS = 290;
const VALUES = 220;
/** The axis: from a quarter of a bar to sixteen bars, each doubling equally wide. */
const FROM = -2;
const TO = 4;
const AXIS = { left: LABELS, right: WIDTH - VALUES };

/**
 * The main rows of every family as one picture: each is drawn from the line where its bar is just met, to the right
 * what is better than asked, to the left what is missing.
 */
export function renderPicture(reports: readonly FamilyReport[]): string {
  const rows = reports.flatMap((report) => report.measurements.flatMap((measurement) => measurement.rows));
  const shown = rows.filter((row) => row.picture !== undefined && row.bar !== undefined);
  const height = TOP + shown.length * ROW + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">How far each measured figure is from its bar</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.axis { fill: #57606a; font-size: 11px; }
.grid { stroke: #8b949e; stroke-opacity: .35; }
.bar { stroke: #57606a; stroke-width: 2; }
.met { fill: #2da44e; }
.missed { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.axis { fill: #9198a1; }
.bar { stroke: #c9d1d9; }
}
</style>
${renderAxis(height)}
${shown.map(renderRow).join("\n")}
</svg>
`;
}

function renderAxis(height: number): string {
  const lines: string[] = [];
  for (let power = FROM; power <= TO; power++) {
    const x = place(2 ** power);
    const label = power === 0 ? "the bar" : `${2 ** power} x`;
    lines.push(
      `<line class="${power === 0 ? "bar" : "grid"}" x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${height - 8}"/>`,
      `<text class="axis" x="${x}" y="${TOP - 14}" text-anchor="middle">${label}</text>`,
    );
  }
  return lines.join("\n");
}

function renderRow(row: Row, at: number): string {
  const verdict = judge(row);
  const bars = verdict?.bars ?? 1;
  const [line, end] = [place(1), place(bars)];
  const y = TOP + at * ROW;
  const met = verdict?.met === true;
  return [
    `<text x="${LABELS - 24}" y="${y + 15}" text-anchor="end">${escape(row.picture ?? row.what)}</text>`,
    `<rect class="${met ? "met" : "missed"}" x="${Math.min(line, end)}" y="${y + 4}" width="${Math.max(2, Math.abs(end - line))}" height="${ROW - 10}" rx="2"/>`,
    `<text x="${AXIS.right + 24}" y="${y + 15}">${escape(valueText(row))}</text>`,
  ].join("\n");
}

function valueText({ ours, ratio, bar }: Row): string {
  const asked = bar === undefined ? "" : ` (bar ${numberText(bar.value)})`;
  return bar?.of === "ours" ? `${figureText(ours)}${asked}` : `${numberText(ratio ?? Number.NaN)} x${asked}`;
}

function place(bars: number): number {
  const power = Math.min(TO, Math.max(FROM, Math.log2(bars)));
  return Math.round(AXIS.left + ((power - FROM) / (TO - FROM)) * (AXIS.right - AXIS.left));
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
